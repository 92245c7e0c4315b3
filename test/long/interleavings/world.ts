import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { statusShardOf } from "../../../lib/dynamo/pet-store.ts";
import { ApiError } from "../../../lib/errors.ts";
import { IDEMPOTENCY_SECONDS } from "../../../lib/limits.ts";
import type { Pet } from "../../../lib/pet.ts";
import { petIdAt } from "../../../lib/pet-id.ts";
import { trialOperations } from "../../support/trial-operations.ts";
import type { Mutation } from "./mutations.ts";
import { type Command, type Item, nameOf, TableModel } from "./table-model.ts";

/** Decides what is open: returns an integer from 0 to count - 1. */
export type Choose = (count: number) => number;

const NOTHING = {
  /** requests that fail, get lost, are delayed or delivered twice */
  faults: 0,
  /** jumps of the clock */
  jumps: 0,
  /** ids that another creation takes first */
  collisions: 0,
  /** callers that change or delete a pet */
  changes: 0,
};

/** How often each kind of event can happen in one schedule. Without a bound there would be infinitely many. */
export type EventLimits = Partial<typeof NOTHING>;

/** Something that can happen next. */
interface Event {
  name: string;
  happen(): unknown;
  /** of what there is only so much in one schedule */
  spends?: keyof EventLimits;
}

/** A request to DynamoDB. */
interface Request extends Pick<PromiseWithResolvers<unknown>, "resolve" | "reject"> {
  name: string;
  execute(): Promise<unknown>;
}

/** The number of index partitions for each status. */
export const SHARDS = 2;

/** How long a key is remembered, in milliseconds. */
export const WINDOW = IDEMPOTENCY_SECONDS * 1000;
// How far the clock jumps: shortly, to where an id is stale (contract 2.7), almost to the end of a claim, and past it. A
// function ends after 6 seconds, so requests that are under way see only short jumps.
const JUMPS = [1000, 16_000, WINDOW - 500, WINDOW + 1000];

const { changeStatus, deletePet } = trialOperations("pets", SHARDS);

/**
 * Returns whether an item may replace another one. Only the callers that this world adds replace items: a change gives a
 * pet another status, and a deletion leaves its retired id. Nothing replaces a retired id.
 */
function mayReplace({ status, statusShard, ...item }: Item, before: Item): boolean {
  const { status: old, statusShard: oldShard, ...rest } = before;
  if (!oldShard || item.creationId !== before.creationId) return false;
  if (!statusShard) return Object.keys(item).every((name) => /^(id|creationId|deletionId)$/.test(name));
  const isUndone = status !== old && status === "available"; // no change gives a pet the status of its creation
  const isListed = statusShard === statusShardOf({ id: item.id, status } as Pet, SHARDS);
  return !isUndone && isListed && Object.keys(item).join() === Object.keys(rest).join();
}

/** Executes a request whose result nobody gets. */
const executeUnanswered = ({ execute }: Request) => execute().catch(() => undefined);

/**
 * The world of one schedule: two tables, a clock, randomness, and requests under way. Everything that happens in it is
 * an event that the schedule chooses.
 */
export class World {
  readonly pets = new TableModel("id", (item, before) => {
    if (before) this.allKept &&= mayReplace(item, before);
    else if (item.statusShard) this.added.set(item.id as bigint, { at: this.now, pet: item });
  });
  readonly claims = new TableModel("hash");
  /** the pets that the schedule added, by their id: when, and as what */
  readonly added = new Map<bigint, { at: number; pet: Item }>();
  allKept = true;
  now = Date.UTC(2026, 5, 1, 0, 0, 0, 999); // claims last for whole seconds
  /** whether there was a fault, or the clock jumped */
  disturbed = false;
  readonly #choose: Choose;
  readonly #mutation: Mutation | undefined;
  #left = NOTHING;
  readonly #waiting = new Set<Request>();
  /** requests whose caller has given up, but which can still reach the table */
  readonly #late = new Set<Request>();
  readonly #history: string[] = [];
  #drawn = 0;
  uuids = 0;

  constructor(choose: Choose, mutation: Mutation | undefined) {
    this.#choose = choose;
    this.#mutation = mutation;
  }

  /** Decides what can happen from now on, and forgets disturbances. */
  allow(limits: EventLimits): void {
    this.#left = { ...NOTHING, ...limits };
    this.disturbed = false;
  }

  /** Sends a command as the document client would. */
  send(command: Command): Promise<unknown> {
    const send = (input: Command["input"]) => {
      const { promise, ...settle } = Promise.withResolvers();
      const table = input.TableName === "claims" ? this.claims : this.pets;
      const execute = async () => table.execute({ constructor: command.constructor, input });
      this.#waiting.add({ name: nameOf(command), execute, ...settle });
      return promise;
    };
    return this.#mutation ? this.#mutation(command, send) : send(command.input);
  }

  /** Draws the random part of an id. It can be the last one again, or another creation can have taken the id first. */
  drawRandom(): number {
    const collision = this.#left.collisions > 0 ? this.#choose(3) : 0;
    if (collision > 0) this.#left.collisions--;
    if (collision === 1) return this.#drawn;
    const random = ++this.#drawn;
    const id = petIdAt(this.now, random);
    if (collision === 2) {
      this.#history.push(`another creation adds pet ${id}`);
      this.pets.items.set(id, { id, name: "Other", statusShard: "sold", creationId: "other" });
    }
    return random;
  }

  /**
   * Runs callers to their end, in the order that the schedule chooses.
   *
   * @param callers must handle their own errors
   */
  async run(callers: (() => unknown)[]): Promise<void> {
    const starting = new Set(callers);
    while (starting.size + this.#waiting.size > 0) {
      const events = [...this.#events(starting)];
      const { name, happen, spends } = events[this.#choose(events.length)] as Event;
      this.#history.push(name);
      if (spends) this.#left[spends]--;
      this.disturbed ||= spends === "faults" || spends === "jumps";
      void happen();
      // Lets the callers run until every one of them waits for DynamoDB.
      await setImmediate();
    }
  }

  /** @throws Error with the rules that do not hold, and with what happened */
  check(rules: Record<string, boolean>): void {
    const broken = Object.keys(rules).filter((rule) => !rules[rule]);
    if (broken.length > 0) throw new Error([...broken, ...this.#history].join("\n  "));
  }

  *#faults(request: Request): Generator<Event> {
    const fault = (what: string, happen: () => unknown) =>
      ({ name: `${request.name} ${what}`, happen, spends: "faults" }) as const;
    const giveUp = () => this.#waiting.delete(request) && request.reject(new ApiError("unavailable"));
    yield fault("fails", giveUp);
    yield fault("is executed, but its response is lost", () => executeUnanswered(request).then(giveUp));
    yield fault("is executed and sent again by the SDK", () => executeUnanswered(request));
    yield fault("is delayed after its caller gave up", () => this.#late.add(request) && giveUp());
  }

  /** What callers can ask for, also of an id that is retired. */
  *#changes(): Generator<Event> {
    for (const [key, { creationId, status }] of this.pets.items) {
      if (creationId === "other") continue;
      const id = key as bigint;
      const change = () => changeStatus(id, status === "sold" ? "pending" : "sold").catch(() => undefined);
      const remove = () => deletePet(id).catch(() => undefined);
      yield { name: `a caller changes pet ${id}`, happen: change, spends: "changes" };
      yield { name: `a caller deletes pet ${id}`, happen: remove, spends: "changes" };
    }
  }

  *#events(starting: Set<() => unknown>): Generator<Event> {
    const { faults, changes, jumps } = this.#left;
    for (const caller of starting)
      yield { name: "a caller starts", happen: () => starting.delete(caller) && caller() };
    for (const request of this.#waiting) {
      const happen = () => this.#waiting.delete(request) && request.resolve(request.execute());
      yield { name: `${request.name} is executed`, happen };
      if (faults > 0) yield* this.#faults(request);
    }
    for (const request of this.#late) {
      const happen = () => this.#late.delete(request) && executeUnanswered(request);
      yield { name: `${request.name} is executed late`, happen };
    }
    if (changes > 0) yield* this.#changes();
    for (const milliseconds of jumps > 0 ? JUMPS : []) {
      if (milliseconds > 1000 && this.#waiting.size + this.#late.size > 0) continue;
      const happen = () => (this.now += milliseconds);
      yield { name: `the clock jumps by ${milliseconds} ms`, happen, spends: "jumps" };
    }
    for (const [hash, { expiresAt }] of this.claims.items) {
      const expired = Number(expiresAt) <= Math.floor(this.now / 1000);
      const happen = () => this.claims.items.delete(hash);
      if (expired) yield { name: "DynamoDB deletes an expired claim", happen };
    }
  }
}

let current: World | undefined;

/**
 * Makes the world of the next schedule. From now on, the stores of this process send their requests to it, and get the
 * time and random values from it.
 */
export function startWorld(choose: Choose, mutation?: Mutation): World {
  if (!current) {
    const world = () => current as World;
    DynamoDBDocumentClient.prototype.send = (command: unknown) => world().send(command as Command) as never;
    Date.now = () => world().now;
    Object.assign(crypto, {
      randomInt: () => world().drawRandom(),
      randomUUID: () => `uuid-${world().uuids++}`,
    });
    syncBuiltinESMExports();
    // Most errors are expected, and a history says more than a stack.
    Error.stackTraceLimit = 0;
  }
  current = new World(choose, mutation);
  return current;
}
