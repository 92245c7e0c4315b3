import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { Option } from "commander";
import { stackName, tableOutput } from "../../infra/names.ts";
import { allStages, localStage } from "../../infra/stages.ts";
import { useStore } from "../emulator/store/aws-environment.ts";
import { readTables } from "../local/data-folder.ts";
import { awsClientOptions } from "./aws-client-options.ts";

/** The option that names the stage of a command. */
export const stageOption = new Option("--stage <stage>")
  .choices(allStages.map(({ name }) => name))
  .makeOptionMandatory();

/** The name of a table, and how to call it: what a store takes. */
type FoundTable = [name: string, config: DynamoDBClientConfig];

/** Finds a table of the local service, in the store that it runs with. */
async function findLocalTable(output: string): Promise<FoundTable> {
  const { outputs, ...store } = await readTables(process.env);
  useStore(store);
  return [outputs[output] ?? "", awsClientOptions()];
}

/** Finds a table of a deployed stage, whose stack names the table, with the operator's AWS credentials. */
async function findDeployedTable(StackName: string, output: string): Promise<FoundTable> {
  const client = new CloudFormationClient(awsClientOptions());
  const region = await client.config.region().catch((cause) => {
    throw new Error("Set AWS_REGION, or a region in your AWS profile", { cause });
  });
  const stack = `The stack ${StackName} in ${region}`;
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName })).catch((cause) => {
    throw new Error(`${stack} cannot be read`, { cause });
  });
  const table = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === output)?.OutputValue;
  if (!table) throw new Error(`${stack} is incomplete: it has no output ${output}.`);
  // The same credentials: the process of an AWS profile can ask for a code, and runs only once.
  return [table, { ...awsClientOptions(), credentials: client.config.credentials }];
}

/** Finds a table of a stage. @param id its construct id @throws Error in one line if it cannot be found */
export function findTable(stage: string, id: string) {
  const output = tableOutput(id);
  return stage === localStage.name ? findLocalTable(output) : findDeployedTable(stackName(stage), output);
}
