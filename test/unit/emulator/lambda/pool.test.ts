import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import type { FunctionDefinition } from "../../../../emulator/template/template.ts";

/** An instance whose events end when the test says so. */
class Instance {
  /** the event that it runs, or a dash */
  event = "-";
  finish = () => {};
  readonly terminate: () => void;

  constructor(_definition: unknown, _log: unknown, onEnd: () => void) {
    instances.push(this);
    this.terminate = () => {
      instances.splice(instances.indexOf(this), 1);
      onEnd();
    };
  }

  async run(event: string): Promise<void> {
    expect(this.event).toBe("-"); // one event at a time
    this.event = event;
    await new Promise<void>((resolve) => (this.finish = resolve));
    this.event = "-";
  }
}

/** Those that have not ended, oldest first. */
let instances: Instance[];
jest.unstable_mockModule("../../../../emulator/lambda/instance.ts", () => ({ FunctionInstance: Instance }));
const { FunctionPool } = await import("../../../../emulator/lambda/pool.ts");

let pool: InstanceType<typeof FunctionPool>;
beforeEach(() => {
  jest.useFakeTimers();
  instances = [];
  pool = new FunctionPool({} as FunctionDefinition, {}, () => undefined);
});
afterEach(() => void jest.useRealTimers());

const invoke = (events: string) => {
  for (const event of events) void pool.invoke(event, "id");
};
/** Returns what the instances run. */
const running = async (afterMs = 0) => {
  await jest.advanceTimersByTimeAsync(afterMs);
  return instances.map(({ event }) => event).join("");
};
/** Ends an event; returns what the instances run then. */
const finish = (event: string) => {
  instances.find((instance) => instance.event === event)?.finish();
  return running();
};

it("runs events in order in two instances, and in up to four while some have taken a second", async () => {
  invoke("12345678");
  const after = [await running(), await running(999), await running(1), await running(5000)];
  expect(after.join(" ")).toBe("12 12 1234 1234");
  // The oldest two stay, although events wait.
  const ending = [await finish("1"), await finish("2"), await finish("4"), await finish("3")];
  expect(ending.join(" ")).toBe("5234 5634 563 56");
  for (const event of "5678") await finish(event);
  expect(await running()).toBe("--");
  expect(jest.getTimerCount()).toBe(0);
});

it("ends its instances when it is drained: after the events that wait, after a later one, or at once", async () => {
  pool.prestart();
  invoke("123");
  expect(await running()).toBe("12");
  pool.drain();
  const ending = [await running(), await finish("1"), await finish("2"), await finish("3")];
  expect(ending.join(" ")).toBe("12 32 3 ");
  invoke("4");
  expect([await running(), await finish("4")]).toEqual(["4", ""]);
  pool.prestart();
  expect(await running()).toBe("-");
  pool.drain();
  expect(await running()).toBe("");
});

it("gives the next event to a new instance when one has ended with its event", async () => {
  invoke("123");
  expect(await running()).toBe("12");
  const [crashed] = instances;
  crashed?.terminate();
  crashed?.finish();
  expect(await running()).toBe("23");
});
