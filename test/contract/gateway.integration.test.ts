import { describe, expect, it } from "@jest/globals";
import { generateApiKey } from "../../lib/api-key.ts";
import { operations } from "../../lib/operations.ts";
import { withWrongChecksum } from "../support/api-keys.ts";
import { call, key } from "./client.ts";

// What the gateway decides, without the function of an operation if it refuses.

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** The methods of each path, as the API has them. */
const allowed = Map.groupBy(operations, ({ path }) => path.replace(/\{\w+\}/, "1"));
const routes = [...allowed].flatMap(([path, found]) => {
  const allow: string[] = found.map(({ method }) => method);
  return methods.map((method) => ({ method, path, allow, exists: allow.includes(method) }));
});

describe("the key of a request", () => {
  const stage = key.split("_")[1] ?? "";

  it("gets the same 401 everywhere if it is missing, malformed, unknown or of another stage", async () => {
    const replies = [];
    for (const authorization of [
      null,
      "",
      "Bearer ",
      key,
      `Basic ${key}`,
      `Bearer ${key}x`,
      `Bearer ${key.toLowerCase()}`,
      `Bearer ${withWrongChecksum(key)}`,
      `Bearer ${generateApiKey(stage)}`,
      `Bearer ${generateApiKey(stage === "production" ? "staging" : "production")}`,
    ]) {
      const invalid = { method: "GET", path: "/pets?limit=0" };
      const wrong = { method: "DELETE", path: "/pets" };
      for (const { method, path } of [...routes.filter(({ exists }) => exists), wrong, invalid]) {
        replies.push(await call(path, { method, authorization }));
      }
    }
    expect(replies[0]?.body).toMatchObject({ code: "unauthorized" });
    for (const reply of replies) {
      expect(reply).toMatchObject({ status: 401, text: replies[0]?.text });
      expect(reply.headers.get("www-authenticate")).toBe('Bearer realm="animal-store"');
    }
  });

  it("can follow the scheme in any case", async () => {
    for (const scheme of ["bearer", "BEARER "])
      expect((await call("/pets", { authorization: `${scheme} ${key}` })).status).toBe(200);
  });
});

it("ignores a slash at the end of a path", async () => {
  expect((await call("/pets/?limit=1")).status).toBe(200);
});

describe("a path or method that the API does not have", () => {
  it.each(["/", "/pet", "/pets/1/2", "/store/orders", "/Pets"])("gets 404 at %s", async (path) => {
    expect(await call(path)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  it.each(routes.filter(({ exists }) => !exists))(
    "gets 405 for $method $path, with Allow",
    async ({ method, path, allow }) => {
      const { status, headers } = await call(path, { method });
      expect({ status, allow: headers.get("allow")?.split(", ").sort() }).toEqual({
        status: 405,
        allow: allow.toSorted(),
      });
    },
  );

  const form = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
  it.each([...form, "application/json", "text/plain"])("gets 404 and 405 with any body: %s", async (type) => {
    const options = { method: "PUT", headers: { "Content-Type": type }, body: '{"statusCode":200}' };
    expect(await call("/store/orders", options)).toMatchObject({ status: 404 });
    expect(await call("/pets", options)).toMatchObject({ status: 405 });
  });

  it("gets 404 without a key, and with an Authorization header that is not a key", async () => {
    for (const authorization of [null, "Bearer x"]) {
      expect(await call("/store/orders", { authorization })).toMatchObject({ status: 404 });
    }
  });
});
