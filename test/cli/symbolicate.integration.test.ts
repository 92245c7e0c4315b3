import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it, jest } from "@jest/globals";
import { stop } from "esbuild";
import { program } from "../../cli/symbolicate.ts";
import { functionOf, readStack } from "../../emulator/template/template.ts";
import { functionOutput } from "../../infra/names.ts";
import { servedStackName } from "../../infra/stages.ts";
import { getPet } from "../../lib/operations/get-pet.ts";
import { listPets } from "../../lib/operations/list-pets.ts";
import { runNode } from "../support/keys-cli.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { shared } from "../support/shared.ts";

afterAll(stop); // the process of esbuild

const root = fileURLToPath(new URL("../../", import.meta.url));

function symbolicate(input: string, ...args: string[]) {
  jest.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([input]) as never);
  return runInProcess(program, "symbolicate", args).finally(jest.restoreAllMocks);
}

/** The stack of an error that the deployed bundle throws: it starts without its environment variables. */
async function realStack(id: string): Promise<string> {
  const { code } = functionOf(readStack(shared.assembly, servedStackName), functionOutput(id));
  const file = JSON.stringify(join(code, "index.js"));
  const script = `try { require(${file}) } catch (error) { console.log(error.stack) }`;
  const { PATH } = process.env;
  return (await runNode(["-e", script], { env: { PATH } })).stdout;
}

/** The position of a text in a source file: its path, line and column. */
function positionOf(path: string, text: string): string {
  const before = readFileSync(join(root, path), "utf8").split(text)[0]?.split("\n") ?? [];
  return `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

it("prints frames with positions in the source, and everything else as it is, with control characters escaped", async () => {
  const stack = await realStack(getPet.id);
  const line = JSON.stringify({ operation: getPet.id, error: { cause: { stack: stack.split("\n") } } });
  const others = ['{"message":"started"}', "", "at my_index.js:1:1", "at index.js:1", "\u001b[2J"].join("\n");
  const thrown = positionOf("lib/env.ts", "new Error");
  const called = positionOf("functions/get-pet.ts", "petsTable");
  for (const [input, ...args] of [[line], [stack, "--function", "get-pet"]] as [string, ...string[]][]) {
    const { code, stdout, stderr } = await symbolicate(`${input}\n${others}`, ...args);
    expect([code, stderr]).toEqual([0, ""]);
    for (const text of [thrown, called, "PETS_TABLE is not set."]) expect(stdout).toContain(text);
    expect(stdout.endsWith(`\n${others.replace("\u001b", "\\u001b")}\n`)).toBe(true);
    expect(stdout).not.toMatch(/[^_]index\.js:\d+:\d+/);
  }
});

it("leaves a line of a megabyte without a space as it is, in a time that grows with its length only", async () => {
  const line = "a/".repeat(500_000);
  expect(await symbolicate(line)).toEqual({ code: 0, stdout: `${line}\n`, stderr: "" });
});

it("maps each line of a log with the source map of its function", async () => {
  const lines = [getPet, listPets].map(async ({ id }) =>
    JSON.stringify({ operation: id, error: { stack: (await realStack(id)).split("\n") } }),
  );
  const { stdout } = await symbolicate((await Promise.all(lines)).join("\n"));
  const [first, second] = stdout.split("\n");
  expect(first).toContain(positionOf("functions/get-pet.ts", "petsTable"));
  expect(second).toContain(positionOf("functions/list-pets.ts", "petsTable"));
});

it("fails with one line for a frame of no function", async () => {
  const frame = "at /var/task/index.js:1:2";
  const failure = (message: string) => ({ code: 1, stdout: "", stderr: `symbolicate: ${message}\n` });
  const unknown = await symbolicate(`{"operation":"putPet"} ${frame}`);
  expect(unknown).toEqual(failure("There is no function putPet."));
  expect(await symbolicate(frame, "--function", "putPet")).toMatchObject({ code: 2, stdout: "" });
  expect(await symbolicate(frame)).toEqual(
    failure("A line names no function: add --function, such as get-pet."),
  );
});
