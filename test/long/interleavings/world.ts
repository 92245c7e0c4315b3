import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { statusShardOf } from "../../../lib/dynamo/pet-store.ts";
import { IDEMPOTENCY_SECONDS } from "../../../lib/limits.ts";
import type { Pet } from "../../../lib/pet.ts";
import { petIdAt } from "../../../lib/pet-id.ts";
import { trialOperations } from "../../support/trial-operations.ts";
import type { Mutation } from "./mutations.ts";
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
  /** callers that change or delete a pet */
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

const { changeStatus, deletePet } = trialOperations("pets", SHARDS);

/** Whether a write keeps what an item is: a retired id, or the pet of a creation, which is changed or deleted. */
function isKept(before: Item, { status, statusShard, ...item }: Item): boolean {
  const { status: old, statusShard: oldShard, ...rest } = before;
  if (!oldShard || item.creationId !== before.creationId) return false;
  if (!statusShard) return Object.keys(item).every((name) => /^(id|creationId|deletionId)$/.test(name));
  const isUndone = status !== old && status === "available"; // no change gives a pet the status of its creation
  const isListed = statusShard === statusShardOf({ id: item.id, status } as Pet, SHARDS);
  return !isUndone && isListed && Object.keys(item).join() === Object.keys(rest).join();
}

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
  /** the deletions that returned whether there was a pet */
  readonly deletions: { id: bigint; deleted: boolean | undefined }[] = [];
  /** whether there was a fault, or the clock jumped */
  disturbed = false;
  readonly #requests = new Requests((command) =>
    (command.input.TableName === "claims" ? this.claims : this.pets).execute(command, this.#choose),
  );
  readonly #choose: Choose;
  #budget = NOTHING;
  readonly #mutation: Mutation | undefined;
  readonly #indexLag: boolean;
  readonly #history: string[] = [];
  /** the items before the last event */
  readonly #before = new Map<unknown, Item>();
  #allKept = true;
  #drawn = 0;
  #uuids = 0;

  constructor(choose: Choose, budget: Budget, mutation: Mutation | undefined, indexLag: boolean) {
    this.#choose = choose;
    this.allow(budget);
    this.#mutation = mutation;
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

  send(command: Command): Promise<unknown> {
    const send = (input: Command["input"]) => this.#requests.send({ constructor: command.constructor, input });
    return this.#mutation ? this.#mutation(command, send) : send(command.input);
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
      const item = { id, name: "Other", statusShard: "sold", creationId: "other" };
      this.pets.write(id, item);
      this.#before.set(id, item);
    }
    return random;
  }

  uuid = () => `uuid-${this.#uuids++}`;

  /**
   * Runs callers to their end, in the order that the schedule chooses.
   *
   * @param callers must handle their own errors
   */
  async run(callers: (() => unknown)[]): Promise<void> {
    const starting = new Set(callers);
    while (starting.size > 0 || this.#requests.waiting) {
      const events = [...this.#events(starting)];
      const { name, happen, spends } = events[this.#choose(events.length)] as Event;
      this.#history.push(name);
      if (spends) this.#budget[spends]--;
      this.disturbed ||= spends === "faults" || spends === "jumps";
      void happen();
      // Lets the callers run until every one of them waits for DynamoDB.
      await setImmediate();
      if (!this.#indexLag) this.pets.updateIndex();
      this.#compare();
    }
  }

  /** Compares the items with those before the last event. */
  #compare(): void {
    for (const [id, item] of this.pets.items) {
      const before = this.#before.get(id);
      if (before === item) continue;
      this.#before.set(id, item);
      if (before) this.#allKept &&= isKept(before, item);
      else if (item.statusShard) this.added.set(id as bigint, { at: this.now, pet: item });
    }
  }

  /** @throws Error with the rules that do not hold, and with what happened */
  check(rules: Record<string, boolean>): void {
    const all = {
      ...rules,
      "no write revives a retired id, changes the creation or undoes a change": this.#allKept,
    };
    const broken = Object.entries(all).flatMap(([rule, holds]) => (holds ? [] : [rule]));
    if (broken.length > 0) throw new Error([...broken, ...this.#history].join("\n  "));
  }

  /** What callers can ask for, also of an id that is retired. */
  *#changes(): Generator<Event> {
    for (const [key, { creationId, status }] of this.pets.items) {
      if (creationId === "other") continue;
      const id = key as bigint;
      const other = status === "sold" ? "pending" : "sold";
      const change = () => changeStatus(id, other).catch(() => undefined);
      yield { name: `a caller changes pet ${id}`, happen: change, spends: "changes" };
      const remove = async () => {
        const deleted = await deletePet(id).catch(() => undefined);
        this.deletions.push({ id, deleted });
      };
      yield { name: `a caller deletes pet ${id}`, happen: remove, spends: "changes" };
    }
  }

  *#events(starting: Set<() => unknown>): Generator<Event> {
    for (const caller of starting)
      yield { name: "a caller starts", happen: () => starting.delete(caller) && caller() };
    yield* this.#requests.deliveries();
    const { faults, changes, jumps } = this.#budget;
    if (faults > 0) yield* this.#requests.faults();
    if (changes > 0) yield* this.#changes();
    for (const milliseconds of jumps > 0 ? JUMPS : []) {
      if (milliseconds > 1000 && !this.#requests.idle) continue;
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
export function startWorld(choose: Choose, budget: Budget, mutation?: Mutation, indexLag = false): World {
  if (!current) {
    const world = () => current as World;
    DynamoDBDocumentClient.prototype.send = (command: unknown) => world().send(command as Command) as never;
    Date.now = () => world().now;
    Object.assign(crypto, { randomInt: () => world().drawRandom(), randomUUID: () => world().uuid() });
    syncBuiltinESMExports();
    // Most errors are expected, and a history says more than a stack.
    Error.stackTraceLimit = 0;
  }
  current = new World(choose, budget, mutation, indexLag);
  return current;
}
