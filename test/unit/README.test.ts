import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { errors } from "../../lib/errors.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

it("lists every error code with its status", () => {
  const rows = [...readme.matchAll(/\| (\d{3}) +\| `(\w+)`/g)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  expect(rows).toEqual(Object.entries(errors).map(([code, { status }]) => [code, status]));
});
