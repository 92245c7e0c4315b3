import { expect, it } from "@jest/globals";
import { mapLog } from "../../../cli/map-log.ts";

/** Source maps that return their input, and have no source for line 9. */
const maps = (name: string) => (line: number, column: number) =>
  line === 9 ? undefined : `${name}.ts:${line}:${column}`;

const map = (input: string, functionName?: string) => [...mapLog(input, maps, functionName)];

it("maps every frame of a stack, wherever the bundle is", () => {
  const stack = `Error: no table
    at new Store (/var/task/index.js:25:46963)
    at file:///tmp/a/index.js:1:2
    at async index.js:3:4, index.js:5:6

    at /var/task/index.js:9:1
    at node:internal/process/task_queues:104:5
    at index.js:1 and indexxjs:1:1 and my_index.js:1:1`;
  expect(map(stack, "get-pet")).toEqual([
    "Error: no table",
    "    at new Store (get-pet.ts:25:46963)",
    "    at get-pet.ts:1:2",
    "    at async get-pet.ts:3:4, get-pet.ts:5:6",
    "    at /var/task/index.js:9:1",
    "    at node:internal/process/task_queues:104:5",
    "    at index.js:1 and indexxjs:1:1 and my_index.js:1:1",
  ]);
});

it("maps the frames in a log line, at any depth, with the function that the line names", () => {
  const line = JSON.stringify({
    message: { operation: "getPet", error: { stack: ["at /var/task/index.js:1:2"], text: "index" } },
    stack: "Error\nat index.js:3:4",
  });
  expect(map(line)).toEqual(["at getPet.ts:1:2", "Error", "at getPet.ts:3:4"]);
  expect(map(line.replace('"operation":', '"operation":  '))).toHaveLength(3);
  expect(map(line, "list-pets")).toEqual(["at list-pets.ts:1:2", "Error", "at list-pets.ts:3:4"]);
});

it("omits the log lines without frames, and prints other lines unchanged", () => {
  const log = ['{"level":"INFO","message":"started"}', "", "  ", "START RequestId: 1", '{"cut off'];
  expect(map(log.join("\n"))).toEqual(["START RequestId: 1"]);
});

it("maps what comes before a line that names no function", () => {
  const lines = mapLog('{"operation":"getPet","at":"index.js:1:1"}\nat index.js:1:1', maps);
  expect(lines.next().value).toBe("getPet.ts:1:1");
  expect(() => lines.next()).toThrow("The input does not name a function: add --function, such as get-pet.");
});
