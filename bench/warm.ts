import type { APIGatewayProxyEvent } from "aws-lambda";
import type * as z from "zod/mini";
import { handle } from "../lib/http/handle.ts";
import { createPet, getPet, listPets } from "../lib/operations.ts";
import type { Pet } from "../lib/pet.ts";
import { body, context, event } from "./events.ts";
import { bars } from "./plot.ts";
import { fixed, type Section, type Subject, table } from "./section.ts";
import { interleave, median } from "./stats.ts";

const pet: Pet = { id: 114677519594330n, name: "Rex", categoryId: 1n, status: "available" };
const page = Array.from({ length: 20 }, (_, n) => ({ ...pet, id: pet.id + BigInt(n) }));

const answer = (statusCode: number, value: unknown) => ({
  statusCode,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? Number(member) : member)),
});

type Handler = (event: APIGatewayProxyEvent) => Promise<unknown>;

/** Each operation through the whole stack, and by hand: what must be read and written, and nothing checked. */
const pairs: Record<string, { event: APIGatewayProxyEvent; stack: Handler; bare: Handler }> = {
  "list, a page of 20": {
    event: event({ queryStringParameters: { limit: "20", status: "available" } }),
    stack: (given) => list(given, context),
    bare: async ({ multiValueQueryStringParameters: query }) =>
      answer(200, Number(query?.limit?.[0]) > 0 ? page : []),
  },
  create: {
    event: event({ body }),
    stack: (given) => create(given, context),
    bare: async ({ body }) => answer(201, { id: pet.id, ...JSON.parse(body ?? "") }),
  },
  get: {
    event: event({ pathParameters: { petId: String(pet.id) } }),
    stack: (given) => get(given, context),
    bare: async ({ pathParameters }) => answer(200, { ...pet, id: Number(pathParameters?.petId) }),
  },
};

const list = handle(listPets, async () => ({ body: page as z.output<typeof listPets.success.body> }));
const create = handle(createPet, async ({ body }) => ({ body: { id: pet.id, ...body } }));
const get = handle(getPet, async () => ({ body: pet }));

/** Microseconds that one call takes, of many in a row. */
async function time(handler: Handler, given: APIGatewayProxyEvent, calls: number): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < calls; n++) await handler(given);
  return ((performance.now() - start) * 1000) / calls;
}

/** What the service's own code costs an invocation of an instance that is warm. */
export async function warmCost({ quick }: Subject): Promise<Section> {
  const [rounds, calls] = quick ? [5, 300] : [25, 2000];
  const tasks = Object.values(pairs).flatMap(({ event, stack, bare }) =>
    [bare, stack].map((handler) => () => time(handler, event, calls)),
  );
  // The log is written on Lambda too, but not to this terminal.
  const { info } = console;
  console.info = () => undefined;
  await interleave(2, tasks);
  const times = (await interleave(rounds, tasks)).map(median);
  console.info = info;

  const results = Object.keys(pairs).map((name, n) => {
    const [bare = 0, stack = 0] = times.slice(2 * n);
    return { name, bare, stack };
  });
  const text = `## A warm invocation

Microseconds of one invocation when the store answers at once: a bare handler that parses, answers and checks nothing,
and the whole stack with scopes, validation, exact integers, errors, deprecation and the log line (its writing left
out). Medians of ${rounds} rounds of ${calls} calls, in turns.

![Microseconds an invocation](benchmarks/warm.svg)

${table(
  ["", "bare, µs", "whole stack, µs", "difference, µs"],
  results.map(({ name, bare, stack }) => [name, fixed(bare), fixed(stack), fixed(stack - bare)]),
)}

DynamoDB answers in a few thousand microseconds: the stack costs ${fixed(Math.max(...results.map(({ stack, bare }) => stack - bare)) / 50)} % of 5 ms at most.
`;
  const plot = bars(
    "A warm invocation: microseconds",
    "µs",
    ["bare handler", "the stack around it"],
    results.map(({ name, bare, stack }) => ({ label: name, values: [bare, Math.max(0, stack - bare)] })),
  );
  return { text, plots: { "warm.svg": plot } };
}
