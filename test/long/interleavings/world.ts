import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { petIdAt } from "../../../lib/pet-id.ts";
import { type Event, Requests } from "./requests.ts";
import { type Command, TableModel } from "./table-model.ts";

/** Decides what a schedule leaves open: returns an integer from 0 to count - 1. */
export type Choose = (count: number) => number;

/** How often each kind of event can happen in one schedule. Without a bound there would be infinitely many. */
export interface Budget {
  /** requests that fail, get lost, are delayed or delivered twice */
  faults?: number;
  /** jumps of the clock */
  jumps?: number;
  /** ids that another creation takes first */
  collisions?: number;
}

export const DAY = 24 * 3_600_000;

/**
 * The world of one schedule: two tables, a clock, randomness, and requests under way. Everything that happens in it is
 * an event that the schedule chooses.
 */
class World {
  now = Date.UTC(2026, 5, 1, 0, 0, 0, 999);
  readonly pets = new TableModel("id");
  readonly claims = new TableModel("hash");
  /** when each pet was added, by its id */
  readonly added = new Map<unknown, number>();
  readonly requests = new Requests((command) =>
    (command.input.TableName === "claims" ? this.claims : this.pets).execute(
      command,
      () => this.#choose(2) === 1,
    ),
  );
  readonly #choose: Choose;
  readonly #budget: Required<Budget>;
  readonly #indexLag: boolean;
  readonly #history: string[] = [];
  #drawn = 1;
  #uuids = 0;

  constructor(choose: Choose, budget: Budget, indexLag: boolean) {
    this.#choose = choose;
    this.#budget = { faults: 0, jumps: 0, collisions: 0, ...budget };
    this.#indexLag = indexLag;
  }

  /** From now on there are no faults. */
  calm(): void {
    Object.assign(this.#budget, { faults: 0, jumps: 0, collisions: 0 });
  }

  /** Draws the random part of an id. Another creation can have taken the id first. */
  drawRandom(): number {
    if (this.#budget.collisions === 0 || this.#choose(2) === 0) return this.#drawn++;
    this.#budget.collisions--;
    const id = petIdAt(this.now, 0);
    if (!this.pets.items.has(id)) {
      this.#history.push(`another creation adds pet ${id}`);
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
    const starting = new Set(callers);
    while (starting.size > 0 || this.requests.waiting) {
      const events = [...this.#events(starting)];
      const { name, happen } = events[this.#choose(events.length)] as Event;
      this.#history.push(name);
      void happen();
      // Lets the callers run until every one of them waits for DynamoDB.
      await setImmediate();
      if (!this.#indexLag) this.pets.updateIndex();
      for (const id of this.pets.items.keys()) if (!this.added.has(id)) this.added.set(id, this.now);
    }
  }

  /** @throws Error with the rules that do not hold, and with what happened */
  check(rules: Record<string, boolean>): void {
    const broken = Object.keys(rules).filter((rule) => !rules[rule]);
    if (broken.length > 0) throw new Error([...broken, ...this.#history].join("\n  "));
  }

  *#events(starting: Set<() => Promise<unknown>>): Generator<Event> {
    for (const caller of starting)
      yield { name: "a caller starts", happen: () => starting.delete(caller) && caller() };
    yield* this.requests.deliveries();
    if (this.#budget.faults > 0) {
      for (const fault of this.requests.faults()) yield this.#spending("faults", fault);
    }
    const jump = (milliseconds: number) =>
      this.#spending("jumps", {
        name: `the clock jumps by ${milliseconds} ms`,
        happen: () => {
          this.now += milliseconds;
        },
      });
    if (this.#budget.jumps > 0) yield jump(500);
    // A function ends after 6 seconds, so no request is under way for a day.
    if (this.#budget.jumps > 0 && this.requests.idle) yield jump(DAY - 1000);
    for (const [hash, { expiresAt }] of this.claims.items) {
      const expired = Number(expiresAt) <= Math.floor(this.now / 1000);
      if (expired) yield { name: "DynamoDB deletes an expired claim", happen: () => this.claims.write(hash) };
    }
    for (const update of this.pets.indexUpdates) {
      const happen = () => this.pets.indexUpdates.delete(update) && update();
      yield { name: "the index catches up", happen };
    }
  }

  #spending(kind: keyof Budget, { name, happen }: Event): Event {
    const spend = () => {
      this.#budget[kind]--;
      happen();
    };
    return { name, happen: spend };
  }
}

let current: World;

/**
 * Makes the world of the next schedule. From now on the stores of this process send their requests to it and take the
 * time and random values from it.
 *
 * @param indexLag whether the index can be behind the table
 */
export function startWorld(choose: Choose, budget: Budget, { indexLag = false } = {}): World {
  DynamoDBDocumentClient.prototype.send = (command: unknown) =>
    current.requests.send(command as Command) as never;
  Date.now = () => current.now;
  Object.assign(crypto, { randomInt: () => current.drawRandom(), randomUUID: () => current.uuid() });
  syncBuiltinESMExports();
  current = new World(choose, budget, indexLag);
  return current;
}
