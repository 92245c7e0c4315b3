import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { codeBlocks } from "../../support/code-blocks.ts";
import { disconnect } from "../../support/http.ts";

export const root = join(import.meta.dirname, "../../..");

/** Runs the real `cdk`. @throws AssertionError with what it printed when it fails */
export function cdk(environment: Record<string, string>, ...args: string[]): void {
  const program = join(root, "node_modules/aws-cdk/bin/cdk");
  const env = { PATH: process.env.PATH, CI: "true", ...environment };
  const options = { cwd: root, env, encoding: "utf8", timeout: 180_000 } as const;
  const result = spawnSync(process.execPath, [program, ...args, "--no-notices"], options);
  disconnect(); // this process did not notice which connections ended meanwhile
  assert.equal(result.status, 0, `cdk ${args.join(" ")} failed:\n${result.stdout}${result.stderr}`);
}

/** Deploys stacks of an assembly, without those that they depend on. @returns the outputs of each stack */
export function deploy(
  environment: Record<string, string>,
  assembly: string,
  ...stacks: string[]
): Record<string, Record<string, string>> {
  const outputs = join(assembly, "outputs.json");
  // This test changes templates in place. --force publishes a template again that has the same hash.
  const options = ["--exclusively", "--require-approval", "never", "--force"];
  cdk(environment, "deploy", ...stacks, "--app", assembly, "--outputs-file", outputs, ...options);
  return JSON.parse(readFileSync(outputs, "utf8"));
}

/** Returns the commands of README.md that put staging into an account, in order. */
export function readmeCommands(): string[] {
  const [, section = ""] = readFileSync(join(root, "README.md"), "utf8").split(/^### Deploy it$/m);
  return codeBlocks(section, "sh");
}

/**
 * Runs commands as they are printed.
 *
 * @param input what is typed when they ask
 * @returns what they print
 * @throws AssertionError when they fail
 */
export async function runPrinted(commands: string, environment: Record<string, string>, input = "") {
  const env = { PATH: process.env.PATH, CI: "true", ...environment };
  const child = spawn("bash", ["-ec", commands], { cwd: root, env, timeout: 180_000 });
  child.stdin.end(input);
  const [printed, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  assert.equal(code, 0, `${commands} failed:\n${printed}${errors}`);
  return printed;
}

/** Runs the contract suite against an API, asynchronously, because this process forwards its requests. */
export async function runContractSuite(url: string, key: string): Promise<void> {
  const args = ["test/contract/run.ts", "--url", url];
  const env = { ...process.env, API_KEY: key };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: "inherit", timeout: 180_000 });
  const [code] = await once(child, "close");
  assert.equal(code, 0, "The contract suite failed.");
}
