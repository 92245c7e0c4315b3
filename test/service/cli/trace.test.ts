import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { readStack } from "../../../local/assembly/template.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const assembly = process.env.TEST_ASSEMBLY ?? "";

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function node(args: string[], input = "", environment = {}): Promise<Run> {
  return new Promise((done) => {
    const env = { PATH: process.env.PATH, ...environment };
    const child = execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

const trace = (input: string, ...args: string[]) =>
  node([join(root, "cli/trace.ts"), "--assembly", assembly, ...args], input);

/** The stack of an error that a bundle throws: it starts without its environment variables. */
async function realStack(): Promise<string> {
  const { functions } = readStack(assembly, "animal-store-staging");
  const code = functions.find(({ name }) => name.startsWith("GetPet"))?.code ?? "";
  const file = JSON.stringify(join(code, "index.js"));
  const { stdout } = await node([
    "-e",
    `try { require(${file}) } catch (error) { console.log(error.stack) }`,
  ]);
  return stdout;
}

/** The line of a text in a source file, counted from 1. */
const lineOf = (path: string, text: string) =>
  readFileSync(join(root, path), "utf8")
    .split("\n")
    .findIndex((line) => line.includes(text)) + 1;

const thrown = `lib/env.ts:${lineOf("lib/env.ts", "throw new Error")}:`;
const called = `functions/get-pet.ts:${lineOf("functions/get-pet.ts", "env.petsTable")}:`;

describe("npm run trace", () => {
  it("maps a real error of a real bundle to its source", async () => {
    const { code, stdout } = await trace(await realStack(), "--function", "get-pet");
    expect(code).toBe(0);
    expect(stdout).toContain("The environment variable PETS_TABLE is not set.");
    expect(stdout).toContain(thrown);
    expect(stdout).toContain(called);
    expect(stdout).not.toContain("index.js:");
  });

  it("reads a log line, which names its function", async () => {
    const stack = (await realStack()).split("\n").filter((line) => /^\s+at /.test(line));
    const log = {
      level: "ERROR",
      message: { operation: "getPet", status: 500, error: { cause: { stack } } },
    };
    const { stdout } = await trace(`${JSON.stringify(log)}\n{"level":"INFO","message":"started"}\n`);
    expect(stdout).toContain(thrown);
    expect(stdout).toContain(called);
    expect(stdout).not.toContain("started");
  });

  it("synthesizes this checkout if no assembly is given, and removes the result", async () => {
    const TMPDIR = await mkdtemp(join(tmpdir(), "trace-"));
    const args = [join(root, "cli/trace.ts"), "--function", "getPet"];
    const { code, stdout } = await node(args, await realStack(), { TMPDIR });
    expect([code, stdout]).toEqual([0, expect.stringContaining(thrown)]);
    await rmdir(TMPDIR); // fails if it is not empty
  });

  it("reports an error in one line", async () => {
    const frame = "    at x (/var/task/index.js:1:1)";
    expect(await trace(frame)).toEqual({
      code: 1,
      stdout: "",
      stderr: "trace: The input does not name a function: add --function, such as get-pet.\n",
    });
    expect(await trace(frame, "--stack", "other")).toMatchObject({
      stderr: `trace: There is no stack other in ${assembly}.\n`,
    });
  });

  it("prints help, and explains wrong usage", async () => {
    const help = await trace("", "--help");
    expect(help.code).toBe(0);
    expect(help.stdout).toMatchSnapshot();
    const wrong = await trace("", "--all");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("unknown option '--all'")]);
  });
});
