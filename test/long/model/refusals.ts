import { scopes } from "../../../lib/api-key.ts";
import { BODY_LIMIT } from "../../../lib/limits.ts";
import type { Operation } from "../../../lib/operation.ts";
import { operations } from "../../../lib/operations.ts";
import { call, type TestedService } from "./service.ts";

/**
 * Sends each operation what its description makes it refuse: a path parameter that names nothing, a query parameter that is
 * repeated, and a body whose type is repeated, too large or malformed.
 *
 * @throws AssertionError when the response has another status, or openapi.json does not describe it
 */
export async function checkRefusals(service: TestedService): Promise<void> {
  const key = { secret: service.key, scopes, used: true };
  for (const operation of operations as readonly Operation[]) {
    const { path, params, query, body } = operation;
    const pathWith = (value: string) => path.replaceAll(/\{\w+\}/g, value);
    const expectStatus = (success: number, path: string, parts = {}) =>
      call(service, operation, path, key, { success, ...parts });
    if (params) await expectStatus(404, pathWith("x"));
    for (const name of Object.keys(query?.shape ?? {}))
      await expectStatus(400, `${pathWith("1")}?${name}=1&${name}=1`);
    if (!body) continue;
    await expectStatus(415, pathWith("1"), { body: "{}", headers: [["Content-Type", "text/plain"]] });
    await expectStatus(413, pathWith("1"), { body: " ".repeat(BODY_LIMIT + 1) });
    await expectStatus(400, pathWith("1"), { body: "{" });
  }
}
