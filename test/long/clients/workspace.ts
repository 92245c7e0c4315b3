import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** The root of this checkout. */
export const root = join(import.meta.dirname, "../../..");

/** A folder with a copy of the client programs, in which commands install, generate and run what they need. */
export class Workspace {
  readonly folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** @param variables of the client programs: BASE_URL and API_KEY */
  constructor(folder: string, variables: Record<string, string>) {
    this.folder = folder;
    const path = [join(folder, "python", "venv", "bin"), process.env.PATH].join(delimiter);
    this.#environment = { ...process.env, NODE_OPTIONS: "", PATH: path, ...variables };
  }

  /** Runs a command in a subfolder. @throws Error with everything that it printed if it fails */
  async run(subfolder: string, command: string, ...args: string[]): Promise<string> {
    const env = { ...this.#environment, IDEMPOTENCY_KEY: randomUUID() };
    const options = { cwd: join(this.folder, subfolder), env, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
      throw new Error(
        `${command} ${args.join(" ")} failed:\n${error.stdout ?? ""}${error.stderr ?? error.message}`,
      );
    });
    return stdout;
  }

  /** Runs a client program, and checks what it reports about the pet that it added. */
  async use(name: string, subfolder: string, command: string, ...args: string[]): Promise<void> {
    assert.deepEqual(JSON.parse(await this.run(subfolder, command, ...args)), {
      categoryId: "9223372036854775807",
      listed: 1,
      got: true,
      errors: ["invalid_request", "unauthorized", "not_found"],
    });
    console.log(`${name}: works`);
  }

  /** Turns a TypeScript program into one JavaScript file, which any runtime can run. */
  async bundle(entry: string, outfile: string): Promise<void> {
    const esbuild = join(root, "node_modules", ".bin", "esbuild");
    const options = ["--bundle", "--platform=node", "--format=esm", "--log-level=error"];
    await this.run("typescript", esbuild, entry, ...options, `--outfile=${outfile}`);
  }
}
