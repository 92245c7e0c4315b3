import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import type * as z from "zod/mini";
import { createHandler } from "../lib/http/handler.ts";
import { createPet } from "../lib/operations/create-pet.ts";
import { getPet } from "../lib/operations/get-pet.ts";
import { listPets } from "../lib/operations/list-pets.ts";
import type { Pet } from "../lib/pet.ts";
import { type BenchOptions, format, table } from "./report.ts";
import { body, context, requestEvent } from "./requests.ts";
import { interleave, median, time } from "./stats.ts";

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<{ statusCode: number }>;

const pet: Pet = { id: 114677519594330n, name: "Rex", categoryId: 1n, status: "available" };
const page = Array.from({ length: 20 }, (_, n) => ({ ...pet, id: pet.id + BigInt(n) }));

const respond = (statusCode: number, value: unknown) => ({
  statusCode,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? Number(member) : member)),
});

/** Each operation with the service's own code around it, and as a bare handler that checks nothing. */
const operations: { name: string; event: APIGatewayProxyEvent; service: Handler; bare: Handler }[] = [
  {
    name: "list, a page of 20",
    event: requestEvent({ multiValueQueryStringParameters: { limit: ["20"], status: ["available"] } }),
    service: createHandler(listPets, async () => ({ body: page as z.output<typeof listPets.success.body> })),
    bare: async ({ multiValueQueryStringParameters: query }) =>
      respond(200, Number(query?.limit?.[0]) > 0 ? page : []),
  },
  {
    name: "create",
    event: requestEvent({ body }),
    service: createHandler(createPet, async ({ body }) => ({ body: { id: pet.id, ...body } })),
    bare: async ({ body }) => respond(201, { id: pet.id, ...JSON.parse(body ?? "") }),
  },
  {
    name: "get",
    event: requestEvent({ pathParameters: { petId: String(pet.id) } }),
    service: createHandler(getPet, async () => ({ body: pet })),
    bare: async ({ pathParameters }) => respond(200, { ...pet, id: Number(pathParameters?.petId) }),
  },
];

/** Measures how long the service's own code takes in an invocation of a warm instance. */
export async function warmInvocation({ quick }: BenchOptions) {
  for (const { name, event, service, bare } of operations) {
    const statuses = [await bare(event, context), await service(event, context)].map(
      ({ statusCode }) => statusCode,
    );
    if (!statuses.every((status) => status < 300)) throw new Error(`${name} responded with ${statuses}.`);
  }
  const [rounds, calls] = quick ? [1, 300] : [25, 2000];
  const tasks = operations.flatMap(({ event, service, bare }) =>
    [bare, service].map((handler) => () => time(() => handler(event, context), calls)),
  );
  await interleave(2, tasks);
  const microseconds = (await interleave(rounds, tasks)).map((times) => median(times) * 1000);

  const rows = operations.map(({ name }, n) => {
    const [bare = 0, service = 0] = microseconds.slice(2 * n);
    return [name, format(bare), format(service), format(service - bare)];
  });
  return { warm: table(["", "bare, µs", "service, µs", "difference, µs"], rows) };
}
