import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** One call of DynamoDB. `started` and `responded` are positions in the order of all starts and responses. */
interface RecordedCall {
  /** such as QueryCommand */
  command: string;
  input: Record<string, unknown>;
  started: number;
  responded: number;
  /** the read or write capacity units that DynamoDB reports */
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
  ...options: unknown[]
) => Promise<Output>;

/**
 * Records every DynamoDB call of this process, whichever client makes it, with the capacity that it consumes.
 *
 * @returns `take` returns the calls since the last `take`, in order of their start
 */
export function recordCalls(): { take(): RecordedCall[]; stop(): void } {
  let calls: RecordedCall[] = [];
  let clock = 0;
  const undo = [DynamoDBClient.prototype, DynamoDBDocumentClient.prototype].map((prototype) => {
    // The SDK declares overloads in place of one type.
    const target = prototype as unknown as { send?: Send };
    const send = target.send as Send;
    target.send = async function (command, ...options) {
      command.input.ReturnConsumedCapacity = "TOTAL";
      const call = { command: command.constructor.name, input: command.input, units: 0, items: 0 };
      const recorded: RecordedCall = { ...call, started: clock++, responded: Number.POSITIVE_INFINITY };
      calls.push(recorded);
      const output = await send.call(this, command, ...options);
      recorded.responded = clock++;
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
      for (const restore of undo) restore();
    },
  };
}
