import { setTimeout } from "node:timers/promises";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { awsEnvironment } from "../emulator/store/aws-environment.ts";
import { checkEndpoint } from "../emulator/store/create-tables.ts";
import { DataInUse, startStore } from "../emulator/store/store.ts";
import { stackName } from "../infra/names.ts";
import { localStage } from "../infra/stages.ts";
import { type ApiKeyStore, apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { readTables, storeFolder } from "../local/data-folder.ts";
import { LIMITS } from "./limits.ts";

/** The keys of a stage. To dispose of them closes the local store. */
type OpenKeys = ApiKeyStore & AsyncDisposable;

/**
 * Opens the keys table of a stage. For a deployed stage, it reads the outputs of the stack with the operator's AWS
 * credentials. For the local service, it reads the data folder, whether the service is running or not.
 *
 * @throws Error in one line if the stage cannot be found or read
 */
export function openKeys(stage: string): Promise<OpenKeys> {
  return stage === localStage.name ? openLocal() : openDeployed(stackName(stage));
}

async function openLocal(): Promise<OpenKeys> {
  const end = Date.now() + 10_000;
  for (;;) {
    const tables = await readTables();
    const { endpoint, accessKeyId, apiKeysTable } = tables;
    const store = accessKeyId ? await startStore(storeFolder).catch(unlessInUse) : undefined;
    Object.assign(process.env, awsEnvironment(store ?? tables));
    if (store || !accessKeyId || (await responds(endpoint)))
      return { ...apiKeyStore(apiKeysTable, LIMITS), [Symbol.asyncDispose]: async () => store?.close() };
    // Another command has the data open, or the service is just starting or stopping.
    if (Date.now() > end)
      throw new Error(
        `The data folder ${storeFolder} is in use by another process, and no store responds at ${endpoint}.`,
      );
    await setTimeout(200);
  }
}

/** If the data is in use, the service probably runs and serves it. */
function unlessInUse(error: unknown): undefined {
  if (!(error instanceof DataInUse)) throw error;
}

const responds = (endpoint: string) =>
  checkEndpoint(endpoint, AbortSignal.timeout(1000)).then(
    () => true,
    () => false,
  );

async function openDeployed(StackName: string): Promise<OpenKeys> {
  // Both clients use the same credentials, which the SDK can get from AWS SSO or AWS STS.
  const credentials = defaultProvider({ clientConfig: LIMITS });
  const config = { ...LIMITS, credentials };
  const client = new CloudFormationClient(config);
  const region = await client.config.region().catch(() => {
    throw new Error("No AWS region is set: set AWS_REGION, or a region in your AWS profile.");
  });
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName })).catch((error) => {
    throw new Error(explain(error, StackName, region));
  });
  const table = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === "ApiKeysTableName")?.OutputValue;
  if (!table) throw new Error(`The stack ${StackName} in ${region} is incomplete: it has no keys table.`);
  return { ...apiKeyStore(table, config), [Symbol.asyncDispose]: async () => {} };
}

type AwsError = NodeJS.ErrnoException & { $metadata?: { httpStatusCode?: number } };

function explain({ name, message, code, $metadata }: AwsError, stack: string, region: string): string {
  if (name === "CredentialsProviderError")
    return `There are no AWS credentials (${message}): sign in (for example \`aws sso login\`), or check AWS_PROFILE.`;
  if (name === "ValidationError") return `The stack ${stack} is not deployed in ${region}.`;
  if (name === "TimeoutError" || $metadata?.httpStatusCode === undefined)
    return `AWS cannot be reached in ${region} (${code ?? message}): check the network and the region.`;
  return `AWS refused to describe the stack ${stack}: ${message}`;
}
