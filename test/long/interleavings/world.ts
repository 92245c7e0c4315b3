import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { petIdAt } from "../../../lib/pet-id.ts";
import type { Choices } from "./choices.ts";
import { type Action, Requests } from "./requests.ts";
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
  readonly requests = new Requests((table, command) =>
    (table === "claims" ? this.claims : this.pets).execute(command, {
      stale: () => this.#choices.pick(2) === 1,
    }),
  );
  readonly #choices: Choices;
  #drawn = 1;
  #uuids = 0;

  constructor(choices: Choices, budget: Partial<Budget>) {
    this.#choices = choices;
    this.budget = { faults: 0, jumps: 0, collisions: 0, indexLag: false, ...budget };
  }

  /** Draws the random part of an id. Another creation can have taken the id first. */
  drawRandom(): number {
    if (this.budget.collisions === 0 || this.#choices.pick(2) === 0) return this.#drawn++;
    this.budget.collisions--;
    const id = petIdAt(this.now, 0);
    if (!this.pets.items.has(id)) {
      this.history.push(`another creation adds pet ${id}`);
      const other = { id, name: "Other", categoryId: 0n, status: "sold", statusShard: "sold" };
      this.pets.items.set(id, { ...other, creation: "other" });
    }
    return 0;
  }

  uuid = () => `uuid-${this.#uuids++}`;

  /**
   * Runs callers to their end, in the order that the schedule chooses.
   *
   * @param callers must handle their own errors
   */
  async run(callers: (() => Promise<unknown>)[]): Promise<void> {
    const waiting = [...callers];
    while (waiting.length > 0 || !this.requests.none) {
      const starts = waiting.map((caller, index) => ({
        name: "caller starts",
        run: () => {
          waiting.splice(index, 1);
          void caller();
        },
      }));
      const actions = [...starts, ...this.requests.deliveries(), ...this.#faults(), ...this.#passingOfTime()];
      const action = actions[this.#choices.pick(actions.length)];
      this.history.push(action?.name ?? "");
      action?.run();
      // Lets the callers run until every one of them waits for DynamoDB.
      await setImmediate();
      if (!this.budget.indexLag) for (const update of this.pets.indexUpdates.splice(0)) update();
      for (const id of this.pets.items.keys()) if (!this.added.has(id)) this.added.set(id, this.now);
    }
  }

  #faults(): Action[] {
    if (this.budget.faults === 0) return [];
    return this.requests.faults().map(({ name, run }) => ({
      name,
      run: () => {
        this.budget.faults--;
        run();
      },
    }));
  }

  #passingOfTime(): Action[] {
    const jump = (milliseconds: number) => ({
      name: `the clock jumps by ${milliseconds} ms`,
      run: () => {
        this.budget.jumps--;
        this.now += milliseconds;
      },
    });
    const seconds = BigInt(Math.floor(this.now / 1000));
    const expired = [...this.claims.items].filter(([, { expiresAt }]) => (expiresAt as bigint) <= seconds);
    return [
      ...(this.budget.jumps > 0 ? [jump(500)] : []),
      // A function ends after 6 seconds, so no request is under way for a day.
      ...(this.budget.jumps > 0 && this.requests.idle ? [jump(DAY - 1000)] : []),
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
}

let current: World;

/**
 * Makes the world of the next schedule. From now on the stores of this process send their requests to it and take the
 * time and random values from it.
 */
export function startWorld(choices: Choices, budget: Partial<Budget>): World {
  const prototype = DynamoDBDocumentClient.prototype as { send(command: unknown): unknown };
  prototype.send = (command) => current.requests.send(command);
  Date.now = () => current.now;
  Object.assign(crypto, { randomInt: () => current.drawRandom(), randomUUID: () => current.uuid() });
  syncBuiltinESMExports();
  current = new World(choices, budget);
  return current;
}
