import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { disconnect } from "../../support/http.ts";
import { keysJson } from "../../support/keys-cli.ts";
import type { Emulator } from "./emulator.ts";

const root = join(import.meta.dirname, "../../..");

/** The commands that operators run, against an emulator of AWS. */
export class Commands {
  readonly environment: Record<string, string>;
  readonly #outputsFile: string;

  /** @param folder of the run */
  constructor({ environment }: Emulator, folder: string) {
    this.environment = environment;
    this.#outputsFile = join(folder, "outputs.json");
  }

  /**
   * Runs the real `cdk`.
   *
   * @throws AssertionError with what it printed when it fails
   */
  cdk(...args: string[]): void {
    const cdk = join(root, "node_modules/aws-cdk/bin/cdk");
    const env = { PATH: process.env.PATH, CI: "true", ...this.environment };
    const options = { cwd: root, env, encoding: "utf8", timeout: 180_000 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [cdk, ...args, "--no-notices"], options);
    disconnect(); // this process did not notice which connections ended meanwhile
    assert.equal(status, 0, `cdk ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }

  /** Deploys stacks of an assembly, without those that they depend on. @throws AssertionError when this fails */
  deploy(assembly: string, ...stacks: string[]): void {
    const files = ["--app", assembly, "--outputs-file", this.#outputsFile];
    // This test changes templates in place. --force publishes a template again that has the same hash.
    const options = ["--exclusively", "--require-approval", "never", "--force"];
    this.cdk("deploy", ...stacks, ...files, ...options);
  }

  /** Returns the outputs of a stack of the last deployment. */
  outputsOf(stack: string): Record<string, string> {
    return JSON.parse(readFileSync(this.#outputsFile, "utf8"))[stack] ?? {};
  }

  /** Runs `npm run keys` for a stage; returns the JSON that it printed. */
  keys(stage: string, ...args: string[]) {
    return keysJson([...args, "--stage", stage], this.environment);
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
export async function runAgainst({ url, key }: DeployedStage, script: string): Promise<void> {
  const args = [script, "--url", url, "--key", key];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit", timeout: 180_000 });
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${script} failed.`);
}
