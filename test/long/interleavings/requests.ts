import { ApiError } from "../../../lib/errors.ts";

/** Something that can happen next. */
export interface Action {
  name: string;
  run(): void;
}

interface Request {
  command: unknown;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

const tableOf = (command: unknown) => (command as { input: { TableName: string } }).input.TableName;

const nameOf = (command: unknown) =>
  `${(command as object).constructor.name.replace("Command", "")} ${tableOf(command)}`;

/** The requests to DynamoDB that are under way. */
export class Requests {
  readonly #execute: (table: string, command: unknown) => unknown;
  #waiting: Request[] = [];
  /** requests whose caller has given up, but which can still reach the table */
  #delayed: unknown[] = [];

  /** @param execute executes a command; throws what DynamoDB would return as an error */
  constructor(execute: (table: string, command: unknown) => unknown) {
    this.#execute = execute;
  }

  get none(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether even the requests that nobody waits for have ended. */
  get idle(): boolean {
    return this.none && this.#delayed.length === 0;
  }

  /** Sends a command as the document client would. */
  send(command: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.push({ command, resolve, reject }));
  }

  deliveries(): Action[] {
    const inTime = this.#waiting.map((request) => ({
      name: `${nameOf(request.command)} is executed`,
      run: () => {
        this.#remove(request);
        try {
          request.resolve(this.#execute(tableOf(request.command), request.command));
        } catch (error) {
          request.reject(error);
        }
      },
    }));
    const late = this.#delayed.map((command, index) => ({
      name: `${nameOf(command)} is executed late`,
      run: () => {
        this.#delayed.splice(index, 1);
        this.#executeUnheard(command);
      },
    }));
    return [...inTime, ...late];
  }

  faults(): Action[] {
    return this.#waiting.flatMap((request) => {
      const { command } = request;
      const giveUp = () => {
        this.#remove(request);
        request.reject(new ApiError("unavailable"));
      };
      const fault = (what: string, run: () => void) => ({ name: `${nameOf(command)} ${what}`, run });
      return [
        fault("fails", giveUp),
        fault("is executed, but its response is lost", () => {
          this.#executeUnheard(command);
          giveUp();
        }),
        fault("is executed and sent again by the SDK", () => this.#executeUnheard(command)),
        fault("is delayed after its caller gave up", () => {
          this.#delayed.push(command);
          giveUp();
        }),
      ];
    });
  }

  #remove(request: Request): void {
    this.#waiting = this.#waiting.filter((other) => other !== request);
  }

  #executeUnheard(command: unknown): void {
    try {
      this.#execute(tableOf(command), command);
    } catch {
      // Nobody gets the error.
    }
  }
}
