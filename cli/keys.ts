import { createInterface } from "node:readline/promises";
import { Command, Option } from "commander";
import { local, stages } from "../infra/stages.ts";
import { type ApiKeyRecord, generateApiKey, isLive, recordOf, type Scope, scopes } from "../lib/api-key.ts";
import type { KeyStore } from "../lib/dynamo/key-store.ts";
import { ApiError } from "../lib/errors.ts";
import { duration, keyName, lifetime, scopeList } from "./arguments.ts";
import { openKeys } from "./key-table.ts";
import { describe, details, lines, table, time } from "./key-views.ts";

/** `npm run keys -- <command>`: the operators' commands for API keys. */

interface Common {
  stage: string;
  json?: boolean;
  yes?: boolean;
}

const allStages = [local, ...stages];

function print({ json }: Common, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value, null, 2) : text);
}

const cacheSeconds = (stage: string) => allStages.find(({ name }) => name === stage)?.authorizerCacheSeconds;

/** Asks before production changes; where no one can be asked, --yes has to say it. */
async function confirm({ stage, yes }: Common, change: string): Promise<void> {
  if (stage !== "production" || yes) return;
  if (!process.stdin.isTTY) throw new Error("Changing production needs --yes where no one can be asked.");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${change} in production? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error("Nothing was changed.");
}

async function withKeys<T>(stage: string, use: (keys: KeyStore) => Promise<T>): Promise<T> {
  const { keys, close } = await openKeys(stage);
  try {
    return await use(keys);
  } finally {
    await close();
  }
}

async function find(keys: KeyStore, stage: string, keyId: string): Promise<ApiKeyRecord> {
  const found = (await keys.list()).find((record) => record.keyId === keyId);
  if (!found) throw new Error(`There is no key ${keyId} in ${stage}.`);
  return found;
}

/** Stores a new key; returns how to show it, this once. */
async function issue(keys: KeyStore, options: Common, wanted: Parameters<typeof recordOf>[1]) {
  const key = generateApiKey(options.stage);
  const record = recordOf(key, wanted);
  await keys.add(record);
  const text = `${details(record)}\n${lines([["API key", key]])}\n\nKeep the API key now: it cannot be shown again.`;
  return (more = "") => print(options, { ...describe(record), key }, text + more);
}

const program = new Command("npm run keys --")
  .description("Issue, list, show, rotate and revoke the API keys of a deployment.")
  .showHelpAfterError("(--help tells what there is)")
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

/** A command with the options that every one of them has. */
function command(name: string, description: string, changes: boolean): Command {
  const made = program
    .command(name)
    .description(description)
    .addOption(
      new Option("--stage <stage>", "which deployment")
        .choices(allStages.map((stage) => stage.name))
        .makeOptionMandatory(),
    )
    .option("--json", "print JSON, for scripts");
  return changes ? made.option("--yes", "do not ask before production changes") : made;
}

command("issue", "issue a new key and show it, this once", true)
  .requiredOption("--name <name>", "who the key is for", keyName)
  .addOption(
    new Option("--scopes <scopes>", "what it may do")
      .argParser(scopeList)
      .default([...scopes], scopes.join(",")),
  )
  .option("--expires <duration>", "how long it works, such as 90d (default: until it is revoked)", lifetime)
  .action(async (options: Common & { name: string; scopes: Scope[]; expires?: number }) => {
    await confirm(options, `Issue a key for ${options.name}`);
    const createdAt = Date.now();
    const expiresAt = options.expires === undefined ? undefined : createdAt + options.expires;
    await withKeys(options.stage, async (keys) => {
      const show = await issue(keys, options, {
        name: options.name,
        scopes: options.scopes,
        createdAt,
        expiresAt,
      });
      show();
    });
  });

command("list", "list every key, the oldest first", false).action(async (options: Common) => {
  const records = await withKeys(options.stage, (keys) => keys.list());
  records.sort((a, b) => a.createdAt - b.createdAt || a.keyId.localeCompare(b.keyId));
  print(
    options,
    records.map(describe),
    records.length > 0 ? table(records) : `There are no keys in ${options.stage}.`,
  );
});

command("show", "show what is known of a key", false)
  .argument("<keyId>", "such as key_94a9db21d2a2b24b")
  .action(async (keyId: string, options: Common) => {
    const record = await withKeys(options.stage, (keys) => find(keys, options.stage, keyId));
    print(options, describe(record), details(record));
  });

command("rotate", "issue a successor and let the old key live a little longer", true)
  .argument("<keyId>", "the key to replace")
  .addOption(
    new Option("--grace <duration>", "how long the old key goes on working")
      .argParser(duration)
      .default(duration("24h"), "24h"),
  )
  .action(async (keyId: string, options: Common & { grace: number }) => {
    await confirm(options, `Rotate ${keyId}`);
    await withKeys(options.stage, async (keys) => {
      const old = await find(keys, options.stage, keyId);
      const now = Date.now();
      if (!isLive(old, now)) throw new Error(`The key ${keyId} does not work any more: issue a new one.`);
      const { name, scopes, createdAt, expiresAt } = old;
      // The successor gets the whole lifetime that the old key had.
      const lifetime = expiresAt && expiresAt - createdAt;
      const show = await issue(keys, options, {
        name,
        scopes,
        createdAt: now,
        expiresAt: lifetime && now + lifetime,
      });
      await keys.revoke(old.hash, now + options.grace);
      const ends = Math.min(
        now + options.grace,
        old.revokedAt ?? Number.POSITIVE_INFINITY,
        expiresAt ?? Number.POSITIVE_INFINITY,
      );
      show(`\n${keyId} works until ${time(ends)}.`);
    });
  });

command("revoke", "end a key at once", true)
  .argument("<keyId>", "the key to end")
  .action(async (keyId: string, options: Common) => {
    await confirm(options, `Revoke ${keyId}`);
    await withKeys(options.stage, async (keys) => {
      const { hash } = await find(keys, options.stage, keyId);
      const changed = await keys.revoke(hash, Date.now());
      const record = await find(keys, options.stage, keyId);
      const seconds = cacheSeconds(options.stage);
      const text = changed
        ? `Revoked ${keyId}. Where it was used just now, it works for up to ${seconds} seconds more.`
        : `${keyId} was revoked before, on ${time(record.revokedAt)}.`;
      print(options, describe(record), text);
    });
  });

try {
  await program.parseAsync();
} catch (error) {
  // Of a failed table, the cause says more than the public message.
  const { name, message } = (error instanceof ApiError && error.cause ? error.cause : error) as Error;
  console.error(`keys: ${message || name}`);
  process.exitCode = 1;
}
