import { expect, it } from "@jest/globals";
import { Command } from "commander";
import { configureProgram, type World } from "../../cli/run-program.ts";
import { ApiError } from "../../lib/errors.ts";
import { runHere } from "../support/run-here.ts";

function run(args: string[], error?: unknown, environment?: Record<string, string>) {
  const programOf = (world: World) => {
    const program = configureProgram(new Command("npm run test --"), world);
    program.command("do").action(() => Promise.reject(error));
    return program;
  };
  return runHere(programOf, "test", args, environment);
}

const connectionLost = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const storeFailed = new ApiError("unavailable", { cause: connectionLost });

it.each<[string, unknown, string]>([
  ["its message", connectionLost, "connect ECONNREFUSED"],
  ["a message of several lines as one", new Error("one\n  two\nthree"), "one two three"],
  ["its code, without a message", Object.assign(new Error(""), { code: "ECONNRESET" }), "ECONNRESET"],
  ["its name, without both", new TypeError(""), "TypeError"],
  ["its name, with a message that is no text", { name: "Other", message: { toString: 1 } }, "Other"],
  ["the cause of an error of the store", storeFailed, "The table cannot be used: connect ECONNREFUSED"],
  ["the message of any other API error", new ApiError("not_found"), new ApiError("not_found").message],
  ["no key", new Error("bad key ask_local_abc123, ASK_PRODUCTION_x"), "bad key ask_***, ask_***"],
  ["no control character", new Error("a\u001b[31m\u202eb\rc"), "a\\u001b[31m\\u202eb\\u000dc"],
  ["other scripts unchanged", new Error("Zoë 犬 🐕"), "Zoë 犬 🐕"],
])("ends with 1 after an error, and prints %s", async (_what, error, line) => {
  expect(await run(["do"], error)).toEqual({ code: 1, stdout: "", stderr: `test: ${line}\n` });
});

it("ends with 2 after wrong usage, and never prints a key or a control character", async () => {
  expect(await run(["do", "--ask_local_abc\u001b"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "error: unknown option '--ask_***\\u001b'\n(Add --help for usage.)\n",
  });
  expect((await run(["dx"])).stderr).toMatch(
    /^error: .*\n\(Did you mean do\?\)\n\(Add --help for usage.\)\n$/,
  );
});

it("explains that -- is missing when npm has read the options itself", async () => {
  const environment = { npm_config_stage: "true" };
  const stderr = expect.stringContaining("Put -- before them: npm run keys --");
  expect(await run(["do", "--all"], undefined, environment)).toMatchObject({ code: 2, stderr });
  expect(await run(["--help"], undefined, environment)).toMatchObject({ code: 0, stderr: "" });
});
