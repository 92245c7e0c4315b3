import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { useStore } from "../emulator/store/aws-environment.ts";
import { keysTableId, stackName, tableOutput } from "../infra/names.ts";
import { localStage } from "../infra/stages.ts";
import { type ApiKeyStore, apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { readTables } from "../local/data-folder.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";

/** Opens the keys of the local service, in the store that it runs with. */
async function openLocalKeys(): Promise<ApiKeyStore> {
  const { apiKeysTable, ...store } = await readTables(process.env);
  useStore(store);
  const keys = apiKeyStore(apiKeysTable, AWS_CLIENT_OPTIONS);
  await keys.get("-").catch((cause) => {
    throw new Error("The local service does not respond: start it with `npm start`", { cause });
  });
  return keys;
}

/** Opens the keys of a deployed stage, whose stack names the table, with the operator's AWS credentials. */
async function openDeployedKeys(StackName: string): Promise<ApiKeyStore> {
  const client = new CloudFormationClient(AWS_CLIENT_OPTIONS);
  const region = await client.config.region().catch((cause) => {
    throw new Error("Set AWS_REGION, or a region in your AWS profile", { cause });
  });
  const stack = `The stack ${StackName} in ${region}`;
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName })).catch((cause) => {
    throw new Error(`${stack} cannot be read`, { cause });
  });
  const isTable = ({ OutputKey }: { OutputKey?: string }) => OutputKey === tableOutput(keysTableId);
  const table = Stacks?.[0]?.Outputs?.find(isTable)?.OutputValue;
  if (!table) throw new Error(`${stack} is incomplete: it has no keys table.`);
  // The same credentials: the process of an AWS profile can ask for a code, and runs only once.
  return apiKeyStore(table, { ...AWS_CLIENT_OPTIONS, credentials: client.config.credentials });
}

/** Opens the keys of a stage. @throws Error in one line if its keys table cannot be found */
export const openKeys = (stage: string): Promise<ApiKeyStore> =>
  stage === localStage.name ? openLocalKeys() : openDeployedKeys(stackName(stage));
