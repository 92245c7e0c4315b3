import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { ApiError } from "../../lib/errors.ts";
import { petIdAt } from "../../lib/pet-id.ts";
import type { Choices } from "./choices.ts";
import { TableModel } from "./table-model.ts";

/** How often each kind of event can happen in one schedule. Without a bound there would be infinitely many. */
export interface Budget {
  /** requests that fail, get lost, are delayed or delivered twice */
  faults: number;
  /** jumps of the clock */
  jumps: number;
  /** ids that another creation takes first */
  collisions: number;
  /** whether the index can be behind the table */
  indexLag: boolean;
}

/** A request to DynamoDB that has left its caller. */
interface Request {
  command: unknown;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

interface Action {
  name: string;
  run(): void;
}

export const DAY = 24 * 3_600_000;

/**
 * The world of one schedule: two tables, a clock, randomness, and requests under way. Everything that happens in it is
 * an action that the schedule chooses.
 */
class World {
  now = Date.UTC(2026, 5, 1, 0, 0, 0, 999);
  readonly pets = new TableModel("id");
  readonly claims = new TableModel("hash");
  /** when each pet was added, by its id */
  readonly added = new Map<unknown, number>();
  /** what happened, for a report */
  readonly history: string[] = [];
  readonly budget: Budget;
  readonly #choices: Choices;
  #requests: Request[] = [];
  /** requests whose caller has given up, but which can still reach the table */
  #delayed: unknown[] = [];
  #drawn = 1;
  #uuids = 0;

  constructor(choices: Choices, budget: Partial<Budget>) {
    this.#choices = choices;
    this.budget = { faults: 0, jumps: 0, collisions: 0, indexLag: false, ...budget };
  }

  /** Sends a command as the document client would; it takes effect when the schedule chooses. */
  request(command: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => this.#requests.push({ command, resolve, reject }));
  }

  /** Draws the random part of an id. Another creation can have taken the id first. */
  drawRandom(): number {
    if (this.#collides()) {
      const random = 0;
      const id = petIdAt(this.now, random);
      if (!this.pets.items.has(id)) {
        this.history.push(`another creation adds pet ${id}`);
        const other = { id, name: "Other", categoryId: 0n, status: "sold", statusShard: "sold" };
        this.pets.items.set(id, { ...other, creation: "other" });
      }
      return random;
    }
    return this.#drawn++;
  }

  uuid = () => `uuid-${this.#uuids++}`;

  /**
   * Runs callers to their end, in the order that the schedule chooses.
   *
   * @param callers each starts when the schedule chooses, and must handle its own errors
   */
  async run(callers: (() => Promise<unknown>)[]): Promise<void> {
    const waiting = [...callers];
    while (waiting.length > 0 || this.#requests.length > 0) {
      const starts = waiting.map((caller, index) => ({
        name: `caller starts`,
        run: () => {
          waiting.splice(index, 1);
          void caller();
        },
      }));
      const actions: Action[] = [
        ...starts,
        ...this.#deliveries(),
        ...this.#faults(),
        ...this.#passingOfTime(),
      ];
      const action = actions[this.#choices.pick(actions.length)];
      this.history.push(action?.name ?? "");
      action?.run();
      // Lets the callers run until every one of them waits for DynamoDB.
      await setImmediate();
      if (!this.budget.indexLag) for (const update of this.pets.indexUpdates.splice(0)) update();
      for (const id of this.pets.items.keys()) if (!this.added.has(id)) this.added.set(id, this.now);
    }
  }

  #collides(): boolean {
    if (this.budget.collisions === 0 || this.#choices.pick(2) === 0) return false;
    this.budget.collisions--;
    return true;
  }

  #deliveries(): Action[] {
    return this.#requests.map((request) => ({
      name: `${describe(request.command)} is executed`,
      run: () => {
        this.#take(request);
        this.#execute(request);
      },
    }));
  }

  #faults(): Action[] {
    const late = this.#delayed.map((command, index) => ({
      name: `${describe(command)} is executed late`,
      run: () => {
        this.#delayed.splice(index, 1);
        this.#tryExecute(command);
      },
    }));
    if (this.budget.faults === 0) return late;
    const fault = (request: Request, name: string, run: () => void) => ({
      name: `${describe(request.command)} ${name}`,
      run: () => {
        this.budget.faults--;
        run();
      },
    });
    const giveUp = (request: Request) => {
      this.#take(request);
      request.reject(new ApiError("unavailable"));
    };
    return this.#requests
      .flatMap((request) => [
        fault(request, "fails", () => giveUp(request)),
        fault(request, "is executed, but its response is lost", () => {
          this.#tryExecute(request.command);
          giveUp(request);
        }),
        fault(request, "is executed and sent again by the SDK", () => this.#tryExecute(request.command)),
        fault(request, "is delayed after its caller gave up", () => {
          this.#delayed.push(request.command);
          giveUp(request);
        }),
      ])
      .concat(late);
  }

  #passingOfTime(): Action[] {
    const jump = (milliseconds: number) => ({
      name: `the clock jumps by ${milliseconds} ms`,
      run: () => {
        this.budget.jumps--;
        this.now += milliseconds;
      },
    });
    const idle = this.#requests.length === 0 && this.#delayed.length === 0;
    const seconds = BigInt(Math.floor(this.now / 1000));
    const expired = [...this.claims.items].filter(([, { expiresAt }]) => (expiresAt as bigint) <= seconds);
    return [
      ...(this.budget.jumps > 0 ? [jump(500)] : []),
      // A function ends after 6 seconds, so no request is under way for a day.
      ...(this.budget.jumps > 0 && idle ? [jump(DAY - 1000)] : []),
      ...expired.map(([hash]) => ({
        name: "DynamoDB deletes an expired claim",
        run: () => this.claims.delete(hash),
      })),
      ...this.pets.indexUpdates.map((update, index) => ({
        name: "the index catches up",
        run: () => {
          this.pets.indexUpdates.splice(index, 1);
          update();
        },
      })),
    ];
  }

  #take(request: Request): void {
    this.#requests = this.#requests.filter((other) => other !== request);
  }

  #table(command: unknown): TableModel {
    const { TableName } = (command as { input: { TableName: string } }).input;
    return TableName === "claims" ? this.claims : this.pets;
  }

  #execute({ command, resolve, reject }: Request): void {
    try {
      resolve(this.#table(command).execute(command, { stale: () => this.#choices.pick(2) === 1 }));
    } catch (error) {
      reject(error);
    }
  }

  #tryExecute(command: unknown): void {
    this.#execute({ command, resolve: () => undefined, reject: () => undefined });
  }
}

function describe(command: unknown): string {
  const { name } = (command as object).constructor;
  const { TableName } = (command as { input: { TableName: string } }).input;
  return `${name.replace("Command", "")} ${TableName}`;
}

let current: World;

/**
 * Makes the world of the next schedule. From now on the stores of this process send their requests to it and take the
 * time and random values from it.
 */
export function startWorld(choices: Choices, budget: Partial<Budget>): World {
  const prototype = DynamoDBDocumentClient.prototype as { send(command: unknown): unknown };
  prototype.send = (command) => current.request(command);
  Date.now = () => current.now;
  Object.assign(crypto, { randomInt: () => current.drawRandom(), randomUUID: () => current.uuid() });
  syncBuiltinESMExports();
  current = new World(choices, budget);
  return current;
}
