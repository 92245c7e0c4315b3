import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, it, jest } from "@jest/globals";
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
  instances = [];
  pool = new FunctionPool({} as FunctionDefinition, () => undefined);
});

const invoke = (events: string) => {
  for (const event of events) void pool.invoke(event, "id");
};
/** Returns what the instances run. */
const running = async () => {
  await turn();
  return instances.map(({ event }) => event).join("");
};
/** Ends an event; returns what the instances run then. */
const finish = (event: string) => {
  instances.find((instance) => instance.event === event)?.finish();
  return running();
};

it("starts an instance at once, and runs events in order in an idle instance or a new one, up to four", async () => {
  expect(await running()).toBe("-");
  invoke("123456");
  expect(await running()).toBe("1234");
  const ending = [await finish("2"), await finish("1"), await finish("3"), await finish("6")];
  expect(ending.join(" ")).toBe("1534 6534 65-4 -5-4");
  invoke("7");
  expect((await running()).replaceAll("-", "")).toHaveLength(3);
});

it("ends its instances when it is drained: after the events that wait, after a later one, or at once", async () => {
  invoke("12345");
  expect(await running()).toBe("1234");
  pool.drain();
  const ending = [await running(), await finish("1"), await finish("2"), await finish("3")];
  expect(ending.join(" ")).toBe("1234 5234 534 54");
  expect([await finish("4"), await finish("5")]).toEqual(["5", ""]);
  invoke("6");
  expect([await running(), await finish("6")]).toEqual(["6", ""]);
});

it("gives the next event to a new instance when one has ended with its event", async () => {
  invoke("12345");
  expect(await running()).toBe("1234");
  const [crashed] = instances;
  crashed?.terminate();
  crashed?.finish();
  expect(await running()).toBe("2345");
});
