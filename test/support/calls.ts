import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** One call of DynamoDB. `started` and `responded` are positions in the order of all starts and responses. */
interface RecordedCall {
  /** the client that makes it */
  client: unknown;
  /** such as QueryCommand */
  command: string;
  input: Record<string, unknown>;
  started: number;
  responded: number;
  signal: AbortSignal | undefined;
  /** the read or write capacity units that DynamoDB reports */
  units: number;
}

type Send = (
  this: unknown,
  command: { constructor: { name: string }; input: Record<string, unknown> },
  options?: { abortSignal?: AbortSignal },
) => Promise<{ ConsumedCapacity?: { CapacityUnits?: number } }>;

/**
 * Records every DynamoDB call of this test file from now on, whichever client makes it, with the capacity that it
 * consumes.
 *
 * @returns a function that returns the calls since its last call, in order of their start
 */
export function recordCalls(): () => RecordedCall[] {
  const calls: RecordedCall[] = [];
  let clock = 0;
  for (const { prototype } of [DynamoDBClient, DynamoDBDocumentClient]) {
    // The SDK declares overloads in place of one type.
    const target = prototype as unknown as { send: Send };
    const { send } = target;
    target.send = async function (command, options) {
      const { input } = command;
      input.ReturnConsumedCapacity = "TOTAL";
      const started = clock++;
      const call = {
        client: this,
        command: command.constructor.name,
        input,
        started,
        responded: Number.POSITIVE_INFINITY,
        signal: options?.abortSignal,
        units: 0,
      };
      calls.push(call);
      const output = await send.call(this, command, options).catch((error) => {
        if (error instanceof ConditionalCheckFailedException) call.responded = clock++;
        throw error;
      });
      call.responded = clock++;
      call.units = output.ConsumedCapacity?.CapacityUnits ?? 0;
      return output;
    };
  }
  return () => calls.splice(0);
}
