import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { Command, Option } from "commander";
import { namedStages, stageNamed } from "../infra/stages.ts";
import {
  type ApiKeyRecord,
  endOf,
  generateApiKey,
  isLive,
  newApiKeyRecord,
  type Scope,
  scopes,
} from "../lib/api-key.ts";
import type { ApiKeyStore, StoredKey } from "../lib/dynamo/api-key-store.ts";
import {
  parseDuration,
  parseKeyId,
  parseLifetime,
  parseOwner,
  parseScopes,
  parseStage,
} from "./arguments.ts";
import { confirm } from "./confirm.ts";
import { escapeControls, escapeLines } from "./escape-controls.ts";
import { describeKey, isoTime, keyDetails, keyTable } from "./format-keys.ts";
import { openKeys } from "./open-keys.ts";
import { configureProgram, orUndo, print, runProgram } from "./run-program.ts";

/** `npm run keys -- <command>`: issues, lists, shows, rotates and revokes API keys. */

/** How long the old key works after a rotation, by default. */
export const GRACE = "24h";

interface CommonOptions {
  stage: string;
  json?: boolean;
  yes?: boolean;
}

const output = ({ json }: CommonOptions, value: unknown, text: string, signal?: AbortSignal) =>
  print(json ? escapeLines(JSON.stringify(value, null, 2)) : text, signal);

async function confirmChange({ stage, yes }: CommonOptions, change: string): Promise<void> {
  if (stageNamed(stage).confirmKeyChanges && !yes) await confirm(`${change} in ${stage}?`);
}

const damaged = (id: string) =>
  `The record of the key ${escapeControls(id)} is damaged, so the key does not work: revoke it.`;

async function find(keys: ApiKeyStore, { stage }: CommonOptions, id: string): Promise<StoredKey> {
  const [found] = await keys.list(id);
  if (!found) throw new Error(`There is no key ${id} in ${stage}.`);
  return found;
}

async function findRecord(keys: ApiKeyStore, options: CommonOptions, id: string): Promise<ApiKeyRecord> {
  const { record } = await find(keys, options, id);
  if (!record) throw new Error(damaged(id));
  return record;
}

/** Revokes a key that nobody is to use. @throws Error always: why, and what became of the key */
async function withdraw(keys: ApiKeyStore, key: ApiKeyRecord, why: string, cause?: unknown): Promise<never> {
  const now = Date.now();
  await keys.revoke(key.hash, now).catch(() => undefined);
  // What is stored decides, because the response to a write can be lost.
  const stored = await keys.find(key.hash).catch(() => key);
  const live = stored && isLive(stored, now) ? "can still work: revoke it" : "was revoked";
  throw new Error(`${why}, and the new key ${key.keyId} ${stored ? live : "was not stored"}`, { cause });
}

/** Stores a new key and shows it. If either fails, it is revoked. */
async function issue(
  keys: ApiKeyStore,
  options: CommonOptions,
  wanted: Parameters<typeof newApiKeyRecord>[1],
) {
  const { fd } = process.stdout;
  // Node opens /dev/null in place of a standard output that is closed.
  if (fstatSync(fd).isCharacterDevice() && !isatty(fd))
    throw new Error(
      "No key was issued: standard output is closed or a device, such as /dev/null, that loses it.",
    );
  const key = generateApiKey(options.stage);
  const record = newApiKeyRecord(key, wanted);
  const shown = { ...describeKey(record, Date.now()), key };
  const text = `${keyDetails(shown)}\n\nSave the API key now: it is not shown again.`;
  await orUndo(
    async (interruption) => {
      await keys.add(record);
      interruption.throwIfAborted();
      await output(options, shown, text, interruption);
    },
    (error) => withdraw(keys, record, "Issuing failed", error),
  );
  return record;
}

/** The operators' commands for API keys. */
export const program = configureProgram(new Command("npm run keys --")).description(
  "Issue, list, show, rotate and revoke the API keys of a deployment.",
);

const command = (name: string, description: string) =>
  program
    .command(name)
    .description(description)
    .requiredOption(
      "--stage <stage>",
      `the deployment: ${namedStages.map((stage) => stage.name).join(", ")}, or a personal stage`,
      parseStage,
    )
    .option("--json", "print JSON, for scripts");

const changingCommand = (name: string, description: string) =>
  command(name, description).option("--yes", "do not ask before a change in production");

changingCommand("issue", "issue a new key and show it once")
  .requiredOption("--owner <owner>", "whom the key is for", parseOwner)
  .option("--scopes <scopes>", `what the key can do; repeatable (default: ${scopes.join(",")})`, parseScopes)
  .option(
    "--expires-in <duration>",
    "how long the key works, such as 90d (default: until revoked)",
    parseLifetime,
  )
  .action(async (options: CommonOptions & { owner: string; scopes?: Scope[]; expiresIn?: number }) => {
    const { owner, expiresIn } = options;
    await confirmChange(options, `Issue a key for ${owner}`);
    await using keys = await openKeys(options.stage);
    const createdAt = Date.now();
    const expiresAt = expiresIn && createdAt + expiresIn;
    await issue(keys, options, { owner, scopes: options.scopes ?? [...scopes], createdAt, expiresAt });
  });

command("list", "list all keys, oldest first").action(async (options: CommonOptions) => {
  await using keys = await openKeys(options.stage);
  const stored = await keys.list();
  for (const { keyId, record } of stored) if (!record) console.error(`keys: ${damaged(keyId)}`);
  const records = stored.flatMap(({ record }) => record ?? []);
  records.sort((a, b) => a.createdAt - b.createdAt || a.keyId.localeCompare(b.keyId));
  const now = Date.now();
  const descriptions = records.map((record) => describeKey(record, now));
  const text = stored[0] ? keyTable(records, now) : `There are no keys in ${options.stage}.`;
  await output(options, descriptions, text);
});

command("show", "show a key's record")
  .argument("<keyId>", "such as key_94a9db21d2a2b24b", parseKeyId)
  .action(async (id: string, options: CommonOptions) => {
    await using keys = await openKeys(options.stage);
    const shown = describeKey(await findRecord(keys, options, id), Date.now());
    await output(options, shown, keyDetails(shown));
  });

changingCommand("rotate", "issue a successor; the old key keeps working for a grace period")
  .argument("<keyId>", "the key to replace", parseKeyId)
  .addOption(
    new Option("--grace <duration>", "how long the old key keeps working")
      .argParser(parseDuration)
      .default(parseDuration(GRACE), GRACE),
  )
  .action(async (id: string, options: CommonOptions & { grace: number }) => {
    await confirmChange(options, `Rotate ${id}`);
    await using keys = await openKeys(options.stage);
    const old = await findRecord(keys, options, id);
    const now = Date.now();
    if (!isLive(old, now)) throw new Error(`The key ${id} no longer works: issue a new one.`);
    if (old.revokeAt !== undefined)
      throw new Error(
        `The key ${id} is already rotating and works until ${isoTime(endOf(old))}: use its successor, or issue a new key.`,
      );
    const { owner, scopes, createdAt, expiresAt } = old;
    // The successor gets the whole lifetime that the old key had.
    const wanted = { owner, scopes, createdAt: now, expiresAt: expiresAt && now + expiresAt - createdAt };
    // The old key ends last, because a failure or a crash before that leaves it as it was. In any other order, it could
    // end while nobody has seen its successor.
    const successor = await issue(keys, options, wanted);
    const revokeAt = now + options.grace;
    const replaced = await keys.supersede(old.hash, successor.keyId, revokeAt, Date.now()).catch((cause) => {
      // Perhaps only the response was lost. To revoke the successor too could leave no key that works.
      throw new Error(`The new key works. It is not known whether ${id} ends: see \`show ${id}\``, { cause });
    });
    if (!replaced) {
      const why = `The key ${id} expired, or another command rotated or revoked it at the same time`;
      await withdraw(keys, successor, why);
    }
    if (!options.json) await print(`${id} works until ${isoTime(endOf({ ...old, revokeAt }))}.`);
  });

changingCommand("revoke", "revoke a key")
  .argument("<keyId>", "the key to revoke", parseKeyId)
  .action(async (id: string, options: CommonOptions) => {
    await confirmChange(options, `Revoke ${id}`);
    await using keys = await openKeys(options.stage);
    const { hash } = await find(keys, options, id);
    const changed = await keys.revoke(hash, Date.now());
    const record = await keys.find(hash);
    const cached = stageNamed(options.stage).authorizerCacheSeconds;
    const text = changed
      ? `Revoked ${id}. The gateway caches valid keys: it can keep working for ${cached} s.`
      : `${id} was already revoked${record ? `, on ${isoTime(record.revokeAt)}` : ""}.`;
    await output(options, record ? describeKey(record, Date.now()) : { keyId: id, state: "revoked" }, text);
  });

if (import.meta.main) process.exitCode = await runProgram(program, "keys");
