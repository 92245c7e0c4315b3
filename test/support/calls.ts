import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** One call of DynamoDB. `started` and `answered` are places in the order of all starts and answers. */
export interface Call {
  /** such as QueryCommand */
  command: string;
  input: Record<string, unknown>;
  started: number;
  answered: number;
  /** read or write capacity units that DynamoDB says it took */
  units: number;
  /** items that it returned */
  items: number;
}

interface Output {
  ConsumedCapacity?: { CapacityUnits?: number };
  Items?: unknown[];
  Item?: unknown;
}

type Send = (
  this: unknown,
  command: { constructor: { name: string }; input: Record<string, unknown> },
) => Promise<Output>;

/**
 * Writes down every call that this process makes of DynamoDB, through whichever client, and asks each for the
 * capacity that it takes.
 *
 * @returns what was called and answered since the last `take`, in order of the start
 */
export function recordCalls(): { take(): Call[]; stop(): void } {
  let calls: Call[] = [];
  let clock = 0;
  const undo = [DynamoDBClient.prototype, DynamoDBDocumentClient.prototype].map((prototype) => {
    // The SDK's overloads say less than this, and the method is inherited: taking ours away restores it.
    const target = prototype as unknown as { send?: Send };
    const send = target.send as Send;
    target.send = async function (command) {
      command.input.ReturnConsumedCapacity = "TOTAL";
      const call = { command: command.constructor.name, input: command.input, units: 0, items: 0 };
      const recorded: Call = { ...call, started: clock++, answered: Number.POSITIVE_INFINITY };
      calls.push(recorded);
      const output = await send.call(this, command);
      recorded.answered = clock++;
      recorded.units = output.ConsumedCapacity?.CapacityUnits ?? 0;
      recorded.items = output.Items?.length ?? (output.Item ? 1 : 0);
      return output;
    };
    return () => {
      target.send = send;
    };
  });
  return {
    take() {
      const taken = calls;
      calls = [];
      return taken;
    },
    stop() {
      for (const each of undo) each();
    },
  };
}
