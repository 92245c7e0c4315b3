import type { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { ApiError } from "../../../lib/errors.ts";
import { type Command, nameOf } from "./table-model.ts";

/** Something that can happen next. */
export interface Event {
  name: string;
  happen(): unknown;
  /** of what there is only so much in one schedule */
  spends?: "faults" | "jumps" | "changes";
}

interface Request extends Pick<PromiseWithResolvers<unknown>, "resolve" | "reject"> {
  name: string;
  execute(): Promise<unknown>;
}

/** Executes a request whose result nobody gets. */
const unheard = ({ execute }: Request) => execute().catch(() => undefined);

/** The requests to DynamoDB that are under way. */
export class Requests {
  readonly #execute: (command: Command) => unknown;
  readonly #waiting = new Set<Request>();
  /** requests whose caller has given up, but which can still reach the table */
  readonly #late = new Set<Request>();

  /** @param execute executes a command; throws what DynamoDB would return as an error */
  constructor(execute: (command: Command) => unknown) {
    this.#execute = execute;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether even the requests that nobody waits for have ended. */
  get idle(): boolean {
    return !this.waiting && this.#late.size === 0;
  }

  /** Sends a command as the document client would. */
  send(command: Command): Promise<unknown> {
    const { promise, ...settle } = Promise.withResolvers();
    this.#waiting.add({ name: nameOf(command), execute: async () => this.#execute(command), ...settle });
    return promise;
  }

  *deliveries(): Generator<Event> {
    for (const request of this.#waiting) {
      const happen = () => this.#waiting.delete(request) && request.resolve(request.execute());
      yield { name: `${request.name} is executed`, happen };
    }
    for (const request of this.#late) {
      const happen = () => this.#late.delete(request) && unheard(request);
      yield { name: `${request.name} is executed late`, happen };
    }
  }

  *faults(): Generator<Event> {
    for (const request of this.#waiting) {
      const { name, execute, reject, resolve } = request;
      const fault = (what: string, happen: () => unknown): Event => ({
        name: `${name} ${what}`,
        happen,
        spends: "faults",
      });
      const giveUp = () => this.#waiting.delete(request) && reject(new ApiError("unavailable"));
      yield fault("fails", giveUp);
      yield fault("is executed, but its response is lost", () => unheard(request).then(giveUp));
      yield fault("is executed and sent again by the SDK", () => unheard(request));
      yield fault("is delayed after its caller gave up", () => this.#late.add(request) && giveUp());
      const withoutItem = (error: ConditionalCheckFailedException) => {
        delete error.Item;
        throw error;
      };
      yield fault("is executed, and a refusal has no item", () => {
        this.#waiting.delete(request);
        resolve(execute().catch(withoutItem));
      });
    }
  }
}
