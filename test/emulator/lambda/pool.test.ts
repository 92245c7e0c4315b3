import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, it, jest } from "@jest/globals";
import type { FunctionDefinition } from "../../../emulator/template/template.ts";

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
jest.unstable_mockModule("../../../emulator/lambda/instance.ts", () => ({ FunctionInstance: Instance }));
const { FunctionPool, MAX_INSTANCES } = await import("../../../emulator/lambda/pool.ts");

let pool: InstanceType<typeof FunctionPool>;
beforeEach(() => {
  instances = [];
  pool = new FunctionPool({} as FunctionDefinition, () => undefined);
});

const invoke = (events: string) => {
  for (const event of events) void pool.invoke(event, "id");
};
const running = async () => {
  await turn();
  return instances.map(({ event }) => event).join("");
};
const finish = (event: string) => {
  instances.find((instance) => instance.event === event)?.finish();
  return running();
};

/** As many events as instances can run, each a letter. */
const full = String.fromCharCode(...Array.from({ length: MAX_INSTANCES }, (_, n) => 97 + n));

it("starts an instance at once, and runs events in order, in idle or new instances", async () => {
  expect(await running()).toBe("-");
  invoke(`${full}12`);
  expect(await running()).toBe(full);
  const ending = [await finish("a"), await finish("1"), await finish("2")];
  expect(ending).toEqual([..."12-"].map((event) => full.replace("a", event)));
  invoke("3");
  expect(await running()).toBe(full.replace("a", "3"));
});

it("ends its instances after it is drained and the last event has ended", async () => {
  invoke(`${full}1`);
  expect(await running()).toBe(full);
  pool.drain();
  const others = full.slice(1);
  expect(await running()).toBe(full);
  expect(await finish("a")).toBe(`1${others}`);
  expect(await finish("1")).toBe(others);
  for (const [n, event] of [...others].entries()) expect(await finish(event)).toBe(others.slice(n + 1));
  invoke("2");
  expect(await running()).toBe("2");
  expect(await finish("2")).toBe("");
});

it("gives the next event to a new instance when one has ended with its event", async () => {
  invoke(`${full}1`);
  expect(await running()).toBe(full);
  const [crashed] = instances;
  crashed?.terminate();
  crashed?.finish();
  expect(await running()).toBe(`${full.slice(1)}1`);
});
