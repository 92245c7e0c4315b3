import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPackages } from "../../support/python.ts";

const docs = join(import.meta.dirname, "../../../docs");

/** Without a path, every program is a stand-in that prints a time. `aws` records its arguments; a read prints an item. */
const STAND_INS = `PATH=/nonexistent
  command_not_found_handle() { echo 1795305600; }
  aws() {
    printf '%s\\0' "$@" $'\\n' >&3
    case $2 in scan | get-item) echo '{"id":{"N":"1"}}' ;; *) echo 1795305600 ;; esac
  }
  visible='{"SampledRequestsEnabled":false,"CloudWatchMetricsEnabled":true,"MetricName":"x"}'
  acl='{"Scope":"REGIONAL","LockToken":"1","Name":"x","Id":"1","DefaultAction":{},"VisibilityConfig":'$visible"}"
  jq() { case $* in *LockToken*) echo "$acl" ;; *:name*) echo '{":name":{"S":"x"}}' ;; *) echo 1795305600 ;; esac; }`;
const functions = readFileSync(join(docs, "operator.sh"), "utf8");
const names = [...functions.matchAll(/^\w+(?=\(\))/gm)].join("|");
const COMMANDS = new RegExp(`^ *\`\`\`sh\\n(.*?)^ *\`\`\`$|\`((?:aws|${names})\\b[^\`\n]*)\``, "gms");

/** Returns the blocks of shell commands of a document, and the commands for AWS and the functions in its text. */
function commandsOf(document: string): string[] {
  return [...document.matchAll(COMMANDS)].map(([, block, inline]) =>
    // A text in angle brackets stands for a value. An ARN has at least 37 characters.
    (block ?? `(${inline}) 2> /dev/null`)
      .replaceAll(/<(time|number)>/g, "1795305600")
      .replaceAll(/<[a-z ]+>/g, "value".padEnd(37, "-"))
      .replaceAll("...", "x"),
  );
}

/** Runs shell commands with the stand-ins. @returns the arguments of each call of `aws` */
function callsOf(commands: string[]): string[][] {
  const script = [STAND_INS, ...commands].join("\n");
  const { output } = spawnSync("/bin/bash", ["-c", script], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
    encoding: "utf8",
    timeout: 60_000,
  });
  const calls = (output[3] ?? "").split("\n\0").map((call) => call.split("\0").slice(0, -1));
  return calls.filter(([service]) => service);
}

/**
 * Parses the commands for AWS in the documents with the AWS CLI, which sends nothing.
 *
 * @throws AssertionError when a command is wrong or was not run, and Error when the AWS CLI cannot be installed
 */
export function testProcedures(): void {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "animal-store-procedures-"));
  const bin = installPackages(temporary.path, ["awscli==1.46.3"]);
  // These first: the other documents use their functions.
  const first = ["incidents.md", "deployment.md"];
  const others = globSync("**/*.md", { cwd: docs }).filter((name) => !first.includes(name));
  const documents = [...first, ...others].map((name) => readFileSync(join(docs, name), "utf8"));
  const commands = [functions, ...documents.flatMap(commandsOf)];
  const calls = callsOf(commands);
  const names = new Set(calls.map(([service, operation]) => `${service} ${operation}`));
  const written = commands.join("\n").matchAll(/\baws ([a-z]\S+ [a-z]\S+)/g);
  const missing = [...written].map(([, name = ""]) => name).filter((name) => !names.has(name));
  assert.deepEqual(missing, []);
  const env = {
    HOME: temporary.path,
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  };
  execFileSync(join(bin, "python"), [join(import.meta.dirname, "parse.py")], {
    input: JSON.stringify(calls),
    env,
    stdio: ["pipe", "inherit", "inherit"],
  });
  console.log(`${calls.length} calls of ${names.size} operations of AWS are valid.`);
}
