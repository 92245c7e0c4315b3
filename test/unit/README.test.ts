import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { errors } from "../../lib/errors.ts";

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
const readme = read("README.md");

it("lists every error code with its status", () => {
  const rows = [...readme.matchAll(/\| (\d{3}) +\| `(\w+)`/g)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  expect(rows).toEqual(Object.entries(errors).map(([code, { status }]) => [code, status]));
});

it("shows a function and its operation as they are in the source", () => {
  const [, handler = "", operation = ""] = readme.split(/^```ts\n/m).map((text) => text.split("```")[0]);
  expect(handler).toBe(read("functions/list-pets.ts"));
  expect(read("lib/operations/list-pets.ts")).toContain(operation.replace("  // ...\n", ""));
  expect(operation).toMatch(/^export const listPets = \{$/m);
});

it("lists every environment variable of `npm start -- --help`", () => {
  const [, help = ""] = read("local/start.ts").split("Environment variables:\n");
  const names = [...help.matchAll(/^ +([A-Z_]{4,}) /gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(1);
  expect([...readme.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name)).toEqual(
    expect.arrayContaining(names),
  );
});
