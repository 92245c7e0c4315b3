import { fstatSync } from "node:fs";
import { Command, Option } from "commander";
import { stackName } from "../infra/names.ts";
import { localStage, namedStages, stageNamed } from "../infra/stages.ts";
import { type ApiKeyRecord, type Scope, scopes } from "../lib/api-key.ts";
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
import { openDeployedKeys } from "./deployed-keys.ts";
import { escapeControls, escapeLines } from "./escape-controls.ts";
import { describeKey, isoTime, keyDetails, keyTable } from "./format-keys.ts";
import { issueKey, rotateKey, type ShowKey } from "./issue-key.ts";
import { openLocalKeys } from "./local-keys.ts";
import { configureProgram, print, runProgram, type World } from "./run-program.ts";

/** `npm run keys -- <command>`: issues, lists, shows, rotates and revokes API keys. */

/** How long the old key works after a rotation, by default. */
export const GRACE = "24h";

const stageNames = namedStages.map(({ name }) => name).join(", ");
const allScopes = scopes.join(",");

interface CommonOptions {
  stage: string;
  json?: boolean;
  yes?: boolean;
}

const output = (world: World, { json }: CommonOptions, value: unknown, text: string) =>
  print(world, json ? escapeLines(JSON.stringify(value, null, 2)) : text);

async function openKeys(world: World, { stage }: CommonOptions) {
  const opened = stage === localStage.name ? openLocalKeys(world.env) : openDeployedKeys(stackName(stage));
  return await opened.catch((cause) => {
    if (namedStages.some(({ name }) => name === stage)) throw cause;
    throw new Error(`No keys for the stage ${stage}; this machine is \`${localStage.name}\``, { cause });
  });
}

/** Asks before a change where the stage wants it, when it can be done. @param change such as "Issue a key for Acme" */
async function confirmChange(world: World, { stage, yes }: CommonOptions, change: string, warning = "") {
  if (stageNamed(stage).confirmKeyChanges && !yes)
    await confirm(world, `${escapeControls(change)} in ${stage}?${warning}`);
}

/** Names a key to somebody who is to confirm a change: key_94a9db21d2a2b24b of Acme, live. */
function nameOf(stored: StoredKey): string {
  const { keyId, owner, state } = describeKey(stored, Date.now());
  return `${keyId}${owner === undefined ? "" : ` of ${owner}`}, ${state},`;
}

async function find(keys: ApiKeyStore, { stage }: CommonOptions, id: string): Promise<StoredKey> {
  const stored = await keys.get(id);
  if (!stored) throw new Error(`No key in ${stage} has the ID ${id}.`);
  return stored;
}

async function findRecord(...key: Parameters<typeof find>): Promise<ApiKeyRecord> {
  const { keyId, record } = await find(...key);
  if (!record) throw new Error(`The record of ${keyId} is damaged: the key does not work. Revoke it.`);
  return record;
}

const showOnce =
  (world: World, options: CommonOptions): ShowKey =>
  (record, key) => {
    const shown = describeKey({ keyId: record.keyId, record }, Date.now());
    const text = `${keyDetails(shown, key)}\n\nSave the API key now: it is not shown again.`;
    return output(world, options, { ...shown, key }, text);
  };

/** Whether what is printed is lost. Node opens /dev/null in place of a standard output that is closed. */
const losesOutput = ({ stdout }: World) => fstatSync(stdout.fd).isCharacterDevice() && !stdout.isTTY;

const revokedText = (id: string, stage: string) =>
  `Revoked ${id}. API Gateway can accept it for up to ${stageNamed(stage).authorizerCacheSeconds} s.`;

/** The operators' commands for API keys. */
export function keysProgram(world: World): Command {
  const program = configureProgram(new Command("npm run keys --"), world);
  program.description("Issue, list, show, rotate and revoke the API keys of a stage.");

  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .requiredOption("--stage <stage>", `the stage: ${stageNames}, or a personal stage`, parseStage)
      .option("--json", "print JSON, for scripts");

  const changingCommand = (name: string, description: string) =>
    command(name, description).option("--yes", "do not ask before a change in production");

  changingCommand("issue", "issue a new key and show it once")
    .requiredOption("--owner <owner>", "whom the key is for", parseOwner)
    .option("--scopes <scopes>", `what the key can do; repeatable (default: ${allScopes})`, parseScopes)
    .option(
      "--expires-in <duration>",
      "how long the key works, such as 90d (default: until revoked)",
      parseLifetime,
    )
    .action(async (options: CommonOptions & { owner: string; scopes?: Scope[]; expiresIn?: number }) => {
      const { owner, expiresIn } = options;
      const keys = await openKeys(world, options);
      await confirmChange(world, options, `Issue a key for ${owner}`);
      const createdAt = Date.now();
      const expiresAt = expiresIn && createdAt + expiresIn;
      const details = { owner, scopes: options.scopes ?? [...scopes], createdAt, expiresAt };
      await issueKey(keys, options.stage, details, showOnce(world, options));
    });

  command("list", "list all keys, oldest first").action(async (options: CommonOptions) => {
    const keys = await openKeys(world, options);
    const stored = await keys.list();
    const createdAt = ({ record }: StoredKey) => record?.createdAt ?? 0;
    stored.sort((a, b) => createdAt(a) - createdAt(b) || a.keyId.localeCompare(b.keyId));
    const text = stored[0] ? keyTable(stored, Date.now()) : `There are no keys in ${options.stage}.`;
    const described = stored.map((key) => describeKey(key, Date.now()));
    await output(world, options, described, text);
  });

  command("show", "show a key's record")
    .argument("<keyId>", "such as key_94a9db21d2a2b24b", parseKeyId)
    .action(async (id: string, options: CommonOptions) => {
      const keys = await openKeys(world, options);
      const record = await findRecord(keys, options, id);
      const shown = describeKey({ keyId: id, record }, Date.now());
      await output(world, options, shown, keyDetails(shown));
    });

  changingCommand("rotate", "issue a successor; the old key keeps working for a grace period")
    .argument("<keyId>", "the key to replace", parseKeyId)
    .addOption(
      new Option("--grace <duration>", "how long the old key keeps working")
        .argParser(parseDuration)
        .default(parseDuration(GRACE), GRACE),
    )
    .action(async (id: string, options: CommonOptions & { grace: number }) => {
      const keys = await openKeys(world, options);
      const old = await findRecord(keys, options, id);
      if (options.grace === 0 && losesOutput(world))
        throw new Error(
          "Standard output is closed or a device: nobody would see the key that replaces this one.",
        );
      const change = `Rotate ${nameOf({ keyId: id, record: old })}`;
      await confirmChange(world, options, change, " The end of this key cannot be undone.");
      const end = await rotateKey(keys, options.stage, old, options.grace, showOnce(world, options));
      const ended = options.grace > 0 ? `${id} works until ${isoTime(end)}.` : revokedText(id, options.stage);
      if (!options.json) await print(world, ended);
    });

  changingCommand("revoke", "revoke a key")
    .argument("<keyId>", "the key to revoke", parseKeyId)
    .action(async (id: string, options: CommonOptions) => {
      const keys = await openKeys(world, options);
      const change = `Revoke ${nameOf(await find(keys, options, id))}`;
      await confirmChange(world, options, change, " This cannot be undone.");
      const changed = await keys.revoke(id, Date.now());
      const shown = describeKey(await find(keys, options, id), Date.now());
      const already = `${id} was already revoked${shown.revokeAt ? `, on ${shown.revokeAt}` : ""}.`;
      await output(world, options, shown, changed ? revokedText(id, options.stage) : already);
    });

  return program;
}

if (import.meta.main) process.exitCode = await runProgram(keysProgram(process), "keys", process);
