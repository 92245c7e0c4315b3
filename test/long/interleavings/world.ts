import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { petItem } from "../../../lib/dynamo/pet-store.ts";
import { IDEMPOTENCY_SECONDS } from "../../../lib/limits.ts";
import type { Pet } from "../../../lib/pet.ts";
import { petIdAt } from "../../../lib/pet-id.ts";
import { type Event, Requests } from "./requests.ts";
import { type Choose, type Command, type Item, TableModel } from "./table-model.ts";

/** How often each kind of event can happen in one schedule. Without a bound there would be infinitely many. */
export interface Budget {
  /** requests that fail, get lost, are delayed or delivered twice */
  faults?: number;
  /** jumps of the clock */
  jumps?: number;
  /** ids that another creation takes first */
  collisions?: number;
  /** pets that another operation changes or deletes */
  changes?: number;
}

const NOTHING: Required<Budget> = { faults: 0, jumps: 0, collisions: 0, changes: 0 };

/** The number of index partitions for each status. */
export const SHARDS = 2;

/** How long a key is remembered, in milliseconds. */
export const WINDOW = IDEMPOTENCY_SECONDS * 1000;
// How far the clock jumps: shortly, to where an id is stale (contract 2.7), almost to the end of a claim, and past it. A
// function ends after 6 seconds, so requests that are under way see only short jumps.
const JUMPS = [1000, 16_000, WINDOW - 500, WINDOW + 1000];

type Caller = () => Promise<unknown>;

/**
 * The world of one schedule: two tables, a clock, randomness, and requests under way. Everything that happens in it is
 * an event that the schedule chooses.
 */
export class World {
  now: number;
  readonly pets: TableModel;
  readonly claims = new TableModel("hash");
  /** the pets that the schedule added, by their id: when, and as what */
  readonly added = new Map<bigint, { at: number; pet: Item }>();
  /** the items as they must be: as they were written first, or as another operation left them */
  readonly expected = new Map<unknown, Item>();
  /** whether there was a fault, or the clock jumped */
  disturbed = false;
  readonly requests = new Requests((command) =>
    (command.input.TableName === "claims" ? this.claims : this.pets).execute(command, this.#choose),
  );
  readonly #choose: Choose;
  #budget = NOTHING;
  readonly #indexLag: boolean;
  readonly #history: string[] = [];
  #drawn = 0;
  #uuids = 0;

  constructor(choose: Choose, budget: Budget, indexLag: boolean) {
    this.#choose = choose;
    this.allow(budget);
    this.#indexLag = indexLag;
    this.pets = new TableModel("id", indexLag ? 2 : 1);
    // Claims last for whole seconds.
    this.now = Date.UTC(2026, 5, 1, 0, 0, 0, budget.jumps && choose(2) ? 1 : 999);
  }

  /** Decides what can happen from now on, and forgets disturbances. */
  allow(budget: Budget): void {
    this.#budget = { ...NOTHING, ...budget };
    this.disturbed = false;
  }

  /** Draws the random part of an id. It can be the last one again, or another creation can have taken the id first. */
  drawRandom(): number {
    const collision = this.#budget.collisions > 0 ? this.#choose(3) : 0;
    if (collision > 0) this.#budget.collisions--;
    if (collision === 1) return this.#drawn;
    const random = ++this.#drawn;
    if (collision === 2) {
      const id = petIdAt(this.now, random);
      this.#history.push(`another creation adds pet ${id}`);
      this.#leave({ id, name: "Other", statusShard: "sold", creation: "other" });
    }
    return random;
  }

  uuid = () => `uuid-${this.#uuids++}`;

  /**
   * Runs callers to their end, in the order that the schedule chooses.
   *
   * @param callers must handle their own errors
   * @param atOnce callers that run from their start to their end without another event
   */
  async run(callers: Caller[], atOnce: Caller[] = []): Promise<void> {
    const starting = new Set([...callers, ...atOnce]);
    while (starting.size > 0 || this.requests.waiting) {
      const events = [...this.#events(starting, new Set(atOnce))];
      const { name, happen, spends } = events[this.#choose(events.length)] as Event;
      this.#history.push(name);
      if (spends) this.#budget[spends]--;
      this.disturbed ||= spends === "faults" || spends === "jumps";
      void happen();
      // Lets the callers run until every one of them waits for DynamoDB.
      await setImmediate();
      if (!this.#indexLag) this.pets.updateIndex();
      for (const [id, item] of this.pets.items) {
        if (this.expected.has(id)) continue;
        this.expected.set(id, item);
        if (item.statusShard) this.added.set(id as bigint, { at: this.now, pet: item });
      }
    }
  }

  /** Writes an item as it must stay. */
  #leave(item: Item): void {
    this.pets.write(item.id, item);
    this.expected.set(item.id, item);
  }

  /** What other operations can do to a pet by the rules of docs/decisions/claim-then-put.md. */
  *#changes(): Generator<Event> {
    for (const [id, item] of this.pets.items) {
      const { statusShard, creation, ...pet } = item;
      if (!statusShard || creation === "other") continue;
      const status = pet.status === "sold" ? "pending" : "sold";
      const change = () => this.#leave(petItem({ ...pet, status } as Pet, String(creation), SHARDS));
      yield { name: `pet ${id} becomes ${status}`, happen: change };
      yield { name: `pet ${id} is deleted`, happen: () => this.#leave({ id, creation }) };
    }
  }

  /** @throws Error with the rules that do not hold, and with what happened */
  check(rules: Record<string, boolean>): void {
    const broken = Object.keys(rules).filter((rule) => !rules[rule]);
    if (broken.length > 0) throw new Error([...broken, ...this.#history].join("\n  "));
  }

  *#events(starting: Set<Caller>, atOnce: Set<Caller>): Generator<Event> {
    for (const caller of starting) {
      const start = () => starting.delete(caller) && caller();
      yield atOnce.has(caller)
        ? { name: "a caller runs", happen: () => this.requests.withoutWaiting(start) }
        : { name: "a caller starts", happen: start };
    }
    yield* this.requests.deliveries();
    const { faults, changes, jumps } = this.#budget;
    for (const fault of faults > 0 ? this.requests.faults() : []) yield { ...fault, spends: "faults" };
    for (const change of changes > 0 ? this.#changes() : []) yield { ...change, spends: "changes" };
    for (const milliseconds of jumps > 0 ? JUMPS : []) {
      if (milliseconds > 1000 && !this.requests.idle) continue;
      const happen = () => {
        this.now += milliseconds;
      };
      yield { name: `the clock jumps by ${milliseconds} ms`, happen, spends: "jumps" };
    }
    for (const [hash, { expiresAt }] of this.claims.items) {
      const expired = Number(expiresAt) <= Math.floor(this.now / 1000);
      if (expired) yield { name: "DynamoDB deletes an expired claim", happen: () => this.claims.write(hash) };
    }
    for (const update of this.pets.indexUpdates) {
      const happen = () => this.pets.indexUpdates.delete(update) && update();
      yield { name: "the index catches up", happen };
    }
  }
}

let current: World | undefined;

/**
 * Makes the world of the next schedule. From now on, the stores of this process send their requests to it, and get the
 * time and random values from it.
 *
 * @param indexLag whether the replicas of the index can be behind the table, each in its own way
 */
export function startWorld(choose: Choose, budget: Budget, indexLag = false): World {
  if (!current) {
    const world = () => current as World;
    DynamoDBDocumentClient.prototype.send = (command: unknown) =>
      world().requests.send(command as Command) as never;
    Date.now = () => world().now;
    Object.assign(crypto, { randomInt: () => world().drawRandom(), randomUUID: () => world().uuid() });
    syncBuiltinESMExports();
    // Most errors are expected, and a history says more than a stack.
    Error.stackTraceLimit = 0;
  }
  current = new World(choose, budget, indexLag);
  return current;
}
