import { mkdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ClassicLevel } from "classic-level";
import dynalite from "dynalite";

/** A running embedded store. */
export interface Store {
  /** where it speaks DynamoDB's protocol */
  endpoint: string;
  close(): Promise<void>;
}

/** Another process has the data open. */
export class DataInUse extends Error {}

/**
 * Starts a DynamoDB-compatible server inside this process, on 127.0.0.1 and a free port.
 *
 * @param path folder of its data, made when it is not there; without one the data is kept in memory
 * @throws DataInUse when another process has the folder open, or Error in one line when it is broken or
 *   cannot be written
 */
export async function startStore(path?: string): Promise<Store> {
  const guard = path === undefined ? undefined : await take(path);
  const server = dynalite({ createTableMs: 0, ...(path === undefined ? {} : { path }) });
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve, reject) =>
        server.close((error) => (error ? reject(error) : resolve())),
      );
      await guard?.close();
    },
  };
}

/** For a server that may be anything, and slow. */
const TIMEOUTS = { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true };

/**
 * Takes a folder for this process, and opens the data once, since the server itself does not say why it cannot.
 * The data are closed again for a moment, until the server opens them: what keeps others out meanwhile is an
 * empty store beside them. The system lets go of it when the process ends, however it ends.
 */
async function take(path: string): Promise<ClassicLevel> {
  const guard = new ClassicLevel(join(path, "in-use"));
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await guard.open();
    const data = new ClassicLevel(path);
    await data.open();
    await data.close();
    return guard;
  } catch (error) {
    await guard.close();
    const { code, message, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
    if (cause?.code === "LEVEL_LOCKED")
      throw new DataInUse(`The data folder ${path} is in use by another process.`);
    throw new Error(`The data folder ${path} cannot be opened: ${cause?.message ?? message ?? code}`);
  }
}

/**
 * Makes the AWS clients of this process talk to a DynamoDB-compatible server. An embedded store wants a region
 * and a signature, whatever they are; a profile of the user's would take the place of both.
 *
 * @returns the environment variables that the functions need for the same
 */
export function setAwsEnvironment(endpoint: string) {
  const environment = {
    AWS_REGION: process.env.AWS_REGION || "us-east-1",
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID || "local",
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY || "local",
    AWS_USE_FIPS_ENDPOINT: "false",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  };
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, environment);
  return environment;
}

/**
 * Creates those of a template's tables that are not there yet.
 *
 * @param endpoint a DynamoDB-compatible server
 * @throws Error in one line when it does not answer
 */
export async function createTables(endpoint: string, tables: CreateTableCommandInput[]): Promise<void> {
  const client = new DynamoDBClient({
    endpoint,
    maxAttempts: 2,
    requestHandler: TIMEOUTS,
  });
  for (const table of tables) {
    try {
      await client.send(new CreateTableCommand(table));
    } catch (error) {
      const { name, message, code } = error as NodeJS.ErrnoException;
      if (name === "ResourceInUseException") continue;
      throw new Error(`The DynamoDB endpoint ${endpoint} cannot be used: ${message || code || name}`);
    }
  }
  client.destroy();
}
