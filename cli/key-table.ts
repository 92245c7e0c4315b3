import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { local, stackName } from "../infra/stages.ts";
import { type KeyStore, keyStore } from "../lib/dynamo/key-store.ts";
import { readTables, storeFolder } from "../local/data-folder.ts";
import { DataInUse, startStore, useStore } from "../local/store.ts";

/** The keys of a stage, as long as they are needed. */
export interface OpenKeys {
  keys: KeyStore;
  close(): Promise<void>;
}

/**
 * Opens the table of a stage's keys: a deployed stage's by the outputs of its stack, with the operator's own
 * AWS credentials; the local one from the running service, or from its data when it does not run.
 *
 * @throws Error in one line when the stage is not there
 */
export function openKeys(stage: string): Promise<OpenKeys> {
  return stage === local.name ? openLocal() : openDeployed(stage);
}

async function openLocal(): Promise<OpenKeys> {
  const end = Date.now() + 10_000;
  for (;;) {
    const { endpoint, embedded, keysTable } = await readTables();
    const store = embedded ? await startStore(storeFolder).catch(unlessInUse) : undefined;
    if (store || !embedded || (await answers(endpoint))) {
      useStore(store?.endpoint ?? endpoint);
      return { keys: keyStore(keysTable), close: store?.close ?? (async () => {}) };
    }
    // Another command has the data open, or the service is just starting or stopping.
    if (Date.now() > end) throw new DataInUse(`The data folder ${storeFolder} is in use by another process.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Data in use mean that the service runs, and answers where it wrote that it does. */
function unlessInUse(error: unknown): undefined {
  if (!(error instanceof DataInUse)) throw error;
}

const answers = (endpoint: string) =>
  fetch(endpoint).then(
    ({ ok }) => ok,
    () => false,
  );

async function openDeployed(stage: string): Promise<OpenKeys> {
  const StackName = stackName(stage);
  const client = new CloudFormationClient({});
  const region = await client.config.region().catch(() => {
    throw new Error("No AWS region is set: set AWS_REGION, or a region in your AWS profile.");
  });
  const { Stacks = [] } = await client
    .send(new DescribeStacksCommand({ StackName }))
    .catch((error: Error) => {
      if (error.name === "CredentialsProviderError") {
        throw new Error(
          "There are no AWS credentials: sign in (for example `aws sso login`) or set AWS_PROFILE.",
        );
      }
      if (error.name === "ValidationError") {
        throw new Error(`The stack ${StackName} is not deployed in ${region}.`);
      }
      throw new Error(`AWS refused to describe the stack ${StackName}: ${error.message || error.name}`);
    });
  const table = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === "KeysTableName")?.OutputValue;
  if (!table)
    throw new Error(`The stack ${StackName} in ${region} is not complete: it has no table of keys.`);
  return { keys: keyStore(table), close: async () => {} };
}
