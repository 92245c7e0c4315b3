import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { stages } from "../../infra/stages.ts";
import { errors } from "../../lib/errors.ts";
import { BODY_LIMIT, IDEMPOTENCY_SECONDS, NAME_MAX, PAGE_SIZE } from "../../lib/limits.ts";

const read = (file: string) =>
  readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").replaceAll("\n", " ");
const readme = read("README.md");
const format = (value: number) => value.toLocaleString("en");

it.each(["README.md", "docs/contract.md"])("%s has the limits of requests", (document) => {
  const text = read(document);
  expect(text).toContain(`1 to ${NAME_MAX} characters`);
  expect(text).toContain(`${BODY_LIMIT / 1024} KiB`);
  expect(text).toMatch(new RegExp(`${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}\\b`));
  expect(text).toMatch(
    new RegExp(`\\b${PAGE_SIZE.default} by default|default is ${PAGE_SIZE.default}\\b`, "i"),
  );
  expect(text).toMatch(new RegExp(`For ${IDEMPOTENCY_SECONDS / 3600} hours`));
});

it("lists every error code with its status", () => {
  const rows = [...readme.matchAll(/\| (\d{3}) +\| `(\w+)`/g)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  expect(rows).toEqual(Object.entries(errors).map(([code, { status }]) => [code, status]));
});

it("has the rates that production accepts", () => {
  const production = stages.find(({ firewall }) => firewall);
  const { addressLimit = 0, keyLimit = 0 } = production?.firewall ?? {};
  expect(readme).toContain(`about ${format(keyLimit)} requests a minute with one key`);
  expect(readme).toContain(`about ${format(addressLimit)} a minute from one address`);
  expect(readme).toContain(`${format(production?.throttling.rate ?? 0)} a second from all clients together`);
});

it.each(stages)("has how long API Gateway caches a key of $name", ({ authorizerCacheSeconds }) => {
  expect(readme).toContain(`caches a valid key for ${authorizerCacheSeconds} seconds`);
});
