import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { readStack } from "../../infra/assembly/template.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const assembly = process.env.TEST_ASSEMBLY ?? "";

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function node(args: string[], input = ""): Promise<Run> {
  return new Promise((done) => {
    const options = { env: { PATH: process.env.PATH ?? "" } };
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) =>
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

  it("synthesizes this checkout if no assembly is given", async () => {
    const { code, stdout } = await node(
      [join(root, "cli/trace.ts"), "--function", "getPet"],
      await realStack(),
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining(thrown)]);
  });

  it("decodes the names of folders", async () => {
    const folder = await mkdtemp(join(tmpdir(), "animal-store-encoded-"));
    await cp(assembly, folder, { recursive: true });
    const { functions } = readStack(folder, "animal-store-staging");
    const map = join(functions.find(({ name }) => name.startsWith("GetPet"))?.code ?? "", "index.js.map");
    await writeFile(map, (await readFile(map, "utf8")).replaceAll("lib/env.ts", "it%27s%20lib/env.ts"));
    const { stdout } = await node(
      [join(root, "cli/trace.ts"), "--function", "getPet", "--assembly", folder],
      await realStack(),
    );
    await rm(folder, { recursive: true });
    expect(stdout).toContain("it's lib/env.ts:");
  });

  it("says what to do with an assembly whose functions are not bundled, as `cdk list` writes it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "animal-store-list-"));
    for (const file of await readdir(assembly)) {
      if (file.endsWith(".json")) await copyFile(join(assembly, file), join(folder, file));
    }
    const { code, stderr } = await node(
      [join(root, "cli/trace.ts"), "--function", "getPet", "--assembly", folder],
      "    at x (/var/task/index.js:1:1)",
    );
    await rm(folder, { recursive: true });
    const remedy = "omit --assembly, or run `npx cdk synth` again.";
    expect([code, stderr]).toEqual([1, `trace: ${folder} has no source map of getPet: ${remedy}\n`]);
  });

  it("reports an error in one line", async () => {
    const frame = "    at x (/var/task/index.js:1:1)";
    const cases: [string[], string][] = [
      [[], "The input does not name a function: add --function, such as get-pet."],
      [["--function", "put-pet"], "There is no function put-pet in animal-store-staging."],
      [
        ["--assembly", "/nonexistent", "--function", "get-pet"],
        "There is no stack animal-store-staging in /nonexistent.",
      ],
    ];
    for (const [args, message] of cases) {
      expect(await trace(frame, ...args)).toEqual({ code: 1, stdout: "", stderr: `trace: ${message}\n` });
    }
  });

  it("prints help, and explains wrong usage", async () => {
    const help = await trace("", "--help");
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("Usage: npm run trace -- ")]);
    const wrong = await trace("", "--all");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("unknown option '--all'")]);
  });
});
