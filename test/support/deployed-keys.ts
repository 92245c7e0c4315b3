import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, jest } from "@jest/globals";
import { keysProgram } from "../../cli/keys.ts";
import { stackName } from "../../infra/names.ts";
import { listen } from "./listen.ts";
import { createOwnTables } from "./own-tables.ts";
import { runHere } from "./run-here.ts";

export const HOUR = 3_600_000;
/** The time at which each deployment is opened, in milliseconds since 1970. */
export const START = Date.parse("2026-11-21T12:00:00Z");

/** Returns how CloudFormation describes a stack. AWS: "DescribeStacks", examples */
export function stackWith(outputs: Record<string, string>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${members.join("")}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}

/** Returns how CloudFormation refuses a request. AWS: "Common errors" */
export const errorWith = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/**
 * Opens a deployment of one stage, with tables of its own. A stand-in of CloudFormation describes its stack, and the clock
 * stands still. `await using` closes it.
 */
export async function openDeployment(stage = "staging") {
  const tables = await createOwnTables();
  const outputs = { PetsTableName: tables.petsTable, ApiKeysTableName: tables.apiKeysTable };
  const stacks: Record<string, string | undefined> = { [stackName(stage)]: stackWith(outputs) };
  const cloudFormation = await listen(
    createServer(async (request, response) => {
      const { StackName: name = "" } = Object.fromEntries(new URLSearchParams(await text(request)));
      const body = stacks[name] ?? errorWith("ValidationError", `Stack with id ${name} does not exist`);
      response.writeHead(body.startsWith("<Error") ? 400 : 200, { "Content-Type": "text/xml" }).end(body);
    }),
  );
  const { AWS_ACCESS_KEY_ID = "", AWS_ENDPOINT_URL_DYNAMODB = "" } = process.env; // the store accepts no other key
  const endpoints = { AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.origin, AWS_ENDPOINT_URL_DYNAMODB };
  const credentials = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: "test" };
  const operator: Record<string, string> = { ...endpoints, ...credentials, AWS_REGION: "eu-west-1" };
  const run = (args: string[], environment = operator, target?: { fd: number }) =>
    runHere(keysProgram, "keys", args, environment, target);
  const keys = (...args: string[]) =>
    run([...args, ...(/^(list|show)$/.test(args[0] ?? "") ? [] : ["--yes"]), "--stage", stage]);
  const print = async (...args: string[]) => {
    const { stdout, ...others } = await keys(...args);
    expect(others).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await print(...args, "--json"));
  const clock = jest.spyOn(Date, "now").mockReturnValue(START);
  return {
    tables,
    /** what CloudFormation returns for each stack */
    stacks,
    endpoints,
    operator,
    setTime: (now: number) => void clock.mockReturnValue(now),
    run,
    /** Runs it for the stage, without a question. */
    keys,
    print,
    json,
    states: async () => (await json("list")).map(({ state }: { state: string }) => state).sort(),
    [Symbol.asyncDispose]: async () => {
      clock.mockRestore();
      await cloudFormation.close();
    },
  };
}
