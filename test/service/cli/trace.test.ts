import { mkdtemp, readFile, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { readStack } from "../../../local/assembly/template.ts";
import { runNode } from "../../support/keys-cli.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const assembly = process.env.TEST_ASSEMBLY ?? "";

const { PATH } = process.env;
const trace = (input: string, args: string[], environment = {}) =>
  runNode([join(root, "cli/trace.ts"), ...args], { env: { PATH, ...environment } }, input);

/** The stack of an error that a bundle throws: it starts without its environment variables. */
async function realStack(): Promise<string> {
  const { functions } = readStack(assembly, "animal-store-staging");
  const code = functions.find(({ name }) => name.startsWith("GetPet"))?.code ?? "";
  const file = JSON.stringify(join(code, "index.js"));
  const script = `try { require(${file}) } catch (error) { console.log(error.stack) }`;
  return (await runNode(["-e", script], { env: { PATH } })).stdout;
}

/** The start of the position of a text in a source file: its path and line. */
async function lineOf(path: string, text: string): Promise<string> {
  const lines = (await readFile(join(root, path), "utf8")).split("\n");
  return `${path}:${lines.findIndex((line) => line.includes(text)) + 1}:`;
}

const thrown = await lineOf("lib/env.ts", "throw new Error");
const called = await lineOf("functions/get-pet.ts", "env.petsTable");

describe("npm run trace", () => {
  it("maps a real error of a real bundle, in a log line, to its source", async () => {
    const stack = (await realStack()).split("\n");
    const line = JSON.stringify({ message: { operation: "getPet", error: { cause: { stack } } } });
    const { code, stdout } = await trace(`${line}\n{"message":"started"}\n\u001b[2J\n`, [
      "--assembly",
      assembly,
    ]);
    expect(code).toBe(0);
    for (const position of [thrown, called]) expect(stdout).toContain(position);
    expect(stdout).not.toMatch(/index\.js:|started/);
    expect(stdout).toMatch(/\n\\u001b\[2J\n$/); // a terminal would clear its screen
  });

  it("synthesizes this checkout if no assembly is given, and removes the result", async () => {
    const TMPDIR = await mkdtemp(join(tmpdir(), "trace-"));
    const args = ["--function", "getPet", "--stack", "animal-store-production"];
    const { code, stdout } = await trace(await realStack(), args, { TMPDIR });
    expect([code, stdout]).toEqual([0, expect.stringContaining(thrown)]);
    expect(stdout).toContain("The environment variable PETS_TABLE is not set.");
    await rmdir(TMPDIR); // fails if it is not empty
  });

  it("reports an error in one line", async () => {
    expect(await trace("", ["--assembly", assembly, "--stack", "other"])).toEqual({
      code: 1,
      stdout: "",
      stderr: `trace: There is no stack other in ${assembly}.\n`,
    });
  });

  it("prints help, and explains wrong usage", async () => {
    const help = await trace("", ["--help"]);
    expect(help.code).toBe(0);
    expect(help.stdout).toMatchSnapshot();
    const wrong = await trace("", ["--all"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("unknown option '--all'")]);
  });
});
