import { readFile } from "node:fs/promises";
import { expect, it } from "@jest/globals";
import { decodeCursor } from "../../lib/cursor.ts";

it("schemathesis.toml has a cursor that the service accepts", async () => {
  const config = await readFile(new URL("../../schemathesis.toml", import.meta.url), "utf8");
  expect(decodeCursor(/cursor = "(.*)"/.exec(config)?.[1] ?? "")).toBe(0n);
});
