import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

type Send = (
  this: unknown,
  command: { constructor: { name: string }; input: Record<string, unknown> },
  options?: { abortSignal?: AbortSignal },
) => Promise<unknown>;

/**
 * Records every DynamoDB call of this test file from now on, whichever client makes it.
 *
 * @returns a function that returns the calls since its last call, in order of their start
 */
export function recordCalls() {
  const newCall = (
    client: unknown,
    command: string,
    input: Record<string, unknown>,
    signal?: AbortSignal,
  ) => ({
    client,
    /** such as QueryCommand */
    command,
    input,
    signal,
    /** the positions of the start and the response in the order of all of them */
    started: clock++,
    responded: Number.POSITIVE_INFINITY,
  });
  const calls: ReturnType<typeof newCall>[] = [];
  let clock = 0;
  for (const { prototype } of [DynamoDBClient, DynamoDBDocumentClient]) {
    // The SDK declares overloads in place of one type.
    const target = prototype as unknown as { send: Send };
    const { send } = target;
    target.send = async function (command, options) {
      const call = newCall(this, command.constructor.name, command.input, options?.abortSignal);
      calls.push(call);
      const output = await send.call(this, command, options).catch((error) => {
        if (error instanceof ConditionalCheckFailedException) call.responded = clock++;
        throw error;
      });
      call.responded = clock++;
      return output;
    };
  }
  return () => calls.splice(0);
}
