import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { runNode } from "../support/keys-cli.ts";

it("print writes all of a long text into a slow pipe, which takes a part at a time", async () => {
  const module = JSON.stringify(fileURLToPath(new URL("../../cli/run-program.ts", import.meta.url)));
  const script = `const { print } = await import(${module}); await print("x".repeat(900_000));`;
  const { code, stdout, stderr } = await runNode(["--eval", script], {});
  expect([code, stdout.length, stderr]).toEqual([0, 900_001, ""]);
});
