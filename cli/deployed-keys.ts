import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { keysTableId, tableOutput } from "../infra/names.ts";
import { type ApiKeyStore, apiKeyStore } from "../lib/dynamo/api-key-store.ts";
import { AWS_CLIENT_OPTIONS } from "./aws-client-options.ts";

/**
 * Opens the keys of a deployed stage, which its stack names, with the operator's AWS credentials.
 *
 * @throws Error in one line if the stack cannot be found or read
 */
export async function openDeployedKeys(StackName: string): Promise<ApiKeyStore> {
  // Both clients use the same credentials, which the SDK can get from AWS SSO or AWS STS.
  const credentials = defaultProvider({ clientConfig: AWS_CLIENT_OPTIONS });
  const config = { ...AWS_CLIENT_OPTIONS, credentials };
  const client = new CloudFormationClient(config);
  const region = await client.config.region();
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName })).catch((error) => {
    throw error.name === "CredentialsProviderError" ? error : new Error(explain(error, StackName, region));
  });
  const outputs = Stacks[0]?.Outputs ?? [];
  const table = outputs.find(({ OutputKey }) => OutputKey === tableOutput(keysTableId))?.OutputValue;
  if (!table) throw new Error(`The stack ${StackName} in ${region} is incomplete: it has no keys table.`);
  return apiKeyStore(table, config);
}

type AwsError = NodeJS.ErrnoException & { $metadata?: { httpStatusCode?: number } };

function explain({ name, message, code, $metadata }: AwsError, stack: string, region: string): string {
  if (name === "ValidationError") return `The stack ${stack} is not deployed in ${region}.`;
  if (name === "TimeoutError" || $metadata?.httpStatusCode === undefined)
    return `AWS cannot be reached in ${region} (${code ?? message}): check the network and the region.`;
  return `AWS refused to describe the stack ${stack}: ${message}`;
}
