import { Command, InvalidArgumentError, Option } from "commander";
import { keysTableId } from "../../infra/names.ts";
import { allStages } from "../../infra/stages.ts";
import {
  type ApiKeyRecord,
  apiKeyPattern,
  generateApiKey,
  hashApiKey,
  isLive,
  isScope,
  keyIdOf,
  NO_END,
  newApiKeyRecord,
  REVOKED,
  type Scope,
  scopes,
} from "../../lib/api-key.ts";
import { apiKeyStore } from "../../lib/dynamo/api-key-store.ts";
import { configureProgram, runProgram } from "./run-program.ts";
import { findTable, stageOption } from "./stage-table.ts";

/** `npm run keys -- <command>`: issues, lists and revokes API keys. */

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const pastedKey = new RegExp(apiKeyPattern);

/** Reads a whole number and a unit, such as 30m, 24h or 90d. @returns milliseconds */
function parseDuration(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? [];
  if (!unit) throw new InvalidArgumentError("Use a whole number and a unit, such as 30m, 24h or 90d.");
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}

/** Reads whom a key is for. It is stored and listed in plain text, so nothing in it can control a terminal. */
function parseOwner(text: string): string {
  if (!/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u.test(text) || !text.trim())
    throw new InvalidArgumentError("Use 1 to 100 printable characters.");
  if (pastedKey.test(text)) throw new InvalidArgumentError("An owner must not contain an API key.");
  return text;
}

function parseScopes(text: string): Scope[] {
  const all = [...new Set(text.split(","))];
  if (!all.every(isScope)) throw new InvalidArgumentError(`Use one or more of ${scopes.join(",")}.`);
  return all;
}

/** Reads a key ID. The error for a pasted API key names its ID and never the key. */
function parseKeyId(text: string): string {
  const [key] = pastedKey.exec(text) ?? [];
  if (key) throw new InvalidArgumentError(`That is an API key. Use its key ID: ${keyIdOf(hashApiKey(key))}.`);
  if (!/^key_[0-9a-f]{16}$/.test(text))
    throw new InvalidArgumentError("Use a key ID, such as key_94a9db21d2a2b24b.");
  return text;
}

const openKeys = async (stage: string) => apiKeyStore(...(await findTable(stage, keysTableId)));

const isoTime = (at: number) => (at > REVOKED && at < NO_END ? new Date(at).toISOString() : null);

/** Returns what operators see of a key, without its hash. */
const describeKey = (record: ApiKeyRecord) => ({
  keyId: record.keyId,
  owner: record.owner,
  state: isLive(record, Date.now()) ? "live" : "ended",
  scopes: record.scopes.toSorted(),
  createdAt: isoTime(record.createdAt),
  endsAt: isoTime(record.endsAt),
});

/** Formats a key as a line of the list. Only the owner has no fixed width. */
function lineOf(record: ApiKeyRecord): string {
  const { keyId, owner, state, scopes, endsAt } = describeKey(record);
  const end = endsAt?.slice(0, 16) ?? (state === "live" ? "never" : "-");
  return row(keyId, state, end, scopes.join().replaceAll("pets:", ""), owner);
}
const row = (id: string, state: string, end: string, scopes: string, owner: string) =>
  [id.padEnd(20), state.padEnd(5), end.padEnd(16), scopes.padEnd(10), owner].join("  ");

interface Options {
  stage: string;
  json?: boolean;
}

const print = ({ json }: Options, value: object, lines: string[]) =>
  console.log(json ? JSON.stringify(value, null, 2) : lines.join("\n"));

const program = configureProgram(new Command("npm run keys --"))
  .description("Issue, list and revoke the API keys of a stage.")
  // Without `--`, npm takes the options for its own.
  .showHelpAfterError("(Usage: npm run keys -- <command> --stage <stage>. Add --help for more.)");

const command = (name: string, description: string) =>
  program
    .command(name)
    .description(description)
    .addOption(stageOption)
    .option("--json", "print JSON, for scripts");

command("issue", "issue a new key and show it once")
  .requiredOption("--owner <owner>", "whom the key is for", parseOwner)
  .addOption(
    new Option("--scopes <scopes>", "what it can do, separated by commas")
      .argParser(parseScopes)
      .default([...scopes], scopes.join()),
  )
  .option("--expires-in <duration>", "how long it works, such as 90d (default: until revoked)", parseDuration)
  .action(async (options: Options & { owner: string; scopes: Scope[]; expiresIn?: number }) => {
    const { stage, owner, scopes, expiresIn } = options;
    const keys = await openKeys(stage);
    const key = generateApiKey(stage);
    const createdAt = Date.now();
    const record = newApiKeyRecord(key, {
      owner,
      scopes,
      createdAt,
      endsAt: expiresIn && createdAt + expiresIn,
    });
    // Stored before it is shown, so that every shown key works. The store can have a key although its response is lost.
    await keys.add(record).catch((cause) => {
      throw new Error(`The new key ${record.keyId} was not shown. Revoke it, if the list has it`, { cause });
    });
    const save = "Save the API key now, because it is not shown again:";
    print(options, { ...describeKey(record), key }, [lineOf(record), save, key]);
  });

command("list", "list all keys, oldest first").action(async (options: Options) => {
  const records = await (await openKeys(options.stage)).list();
  records.sort((a, b) => a.createdAt - b.createdAt || a.keyId.localeCompare(b.keyId));
  const head = row("KEY ID", "STATE", "ENDS (UTC)", "SCOPES", "OWNER");
  print(options, records.map(describeKey), [head, ...records.map(lineOf)]);
});

command("revoke", "revoke a key, or end it later; an end cannot be moved to a later time")
  .argument("<keyId>", "such as key_94a9db21d2a2b24b", parseKeyId)
  .option("--in <duration>", "how long it still works, such as 24h (default: not at all)", parseDuration)
  .action(async (keyId: string, options: Options & { in?: number }) => {
    const at = options.in ? Date.now() + options.in : REVOKED;
    const record = await (await openKeys(options.stage)).end(keyId, at);
    if (!record) throw new Error(`No key in ${options.stage} has the ID ${keyId}.`);
    const cache = allStages.find(({ name }) => name === options.stage)?.authorizerCacheSeconds;
    const after = `After its end, API Gateway can accept it for up to ${cache} s.`;
    print(options, describeKey(record), [lineOf(record), after]);
  });

await runProgram(program, "keys");
