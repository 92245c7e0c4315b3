import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keysCli } from "../../support/keys-cli.ts";
import type { Emulator } from "./emulator.ts";

const root = join(import.meta.dirname, "../../..");

/** The commands that operators run, against an emulator of AWS. */
export class Commands {
  readonly folder: string;
  readonly #environment: Record<string, string>;
  readonly #outputsFile: string;

  /** @param folder of the run */
  constructor({ environment }: Emulator, folder: string) {
    this.folder = folder;
    this.#environment = environment;
    this.#outputsFile = join(folder, "outputs.json");
  }

  /**
   * Runs the real `cdk`.
   *
   * @returns what it printed
   * @throws AssertionError with it when the command fails
   */
  cdk(...args: string[]): string {
    const { status, output } = this.#tryCdk(args);
    assert.equal(status, 0, `cdk ${args.join(" ")} failed:\n${output}`);
    return output;
  }

  /** Deploys stacks of an assembly, without those that they depend on. */
  deploy(assembly: string, ...stacks: string[]): void {
    this.cdk(...this.#deployment(assembly, stacks));
  }

  /** @returns what `cdk deploy` printed when it failed, as it must */
  deployInVain(assembly: string, ...stacks: string[]): string {
    const { status, output } = this.#tryCdk(this.#deployment(assembly, stacks));
    assert.notEqual(status, 0, "The deployment succeeded.");
    return output;
  }

  /** Returns the outputs of a stack of the last deployment. */
  outputsOf(stack: string): Record<string, string> {
    return JSON.parse(readFileSync(this.#outputsFile, "utf8"))[stack] ?? {};
  }

  /** Runs `npm run keys` for a stage; returns the JSON that it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command prints
  async keys(stage: string, ...args: string[]): Promise<any> {
    const run = await this.tryKeys(stage, ...args, "--json");
    assert.equal(run.code, 0, run.stderr);
    return JSON.parse(run.stdout);
  }

  tryKeys(stage: string, ...args: string[]) {
    return keysCli([...args, "--stage", stage], this.#environment);
  }

  #deployment(assembly: string, stacks: string[]): string[] {
    const files = ["--app", assembly, "--outputs-file", this.#outputsFile];
    return ["deploy", ...stacks, "--exclusively", "--require-approval", "never", ...files];
  }

  #tryCdk(args: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "node_modules/aws-cdk/bin/cdk"), ...args, "--no-notices"],
      {
        cwd: root,
        env: { PATH: process.env.PATH, CI: "true", ...this.#environment },
        encoding: "utf8",
        timeout: 180_000,
      },
    );
    return { status, output: stdout + stderr };
  }
}

/** A deployed stage, with a key that has both scopes. */
export interface DeployedStage {
  name: string;
  url: string;
  key: string;
  keyId: string;
}

/** Runs one of this project's scripts against a stage, asynchronously, because this process forwards its requests. */
export async function runAgainst(
  { url, key }: DeployedStage,
  script: string,
  ...options: string[]
): Promise<void> {
  const args = [script, "--url", url, "--key", key, ...options];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", timeout: 180_000 });
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${script} failed.`);
}

/** Calls a stage: a GET, or a POST if there is a body. */
export const call = ({ url }: DeployedStage, path: string, key: string, body?: string) =>
  fetch(url + path, {
    ...(body && { method: "POST", body }),
    headers: { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) },
  });
