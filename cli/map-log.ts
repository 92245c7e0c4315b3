import type { FindSource } from "./source-maps.ts";

const FRAME = /(?:[^\s()]*\/)?\bindex\.js:(\d+):(\d+)/g;

/** Returns the stack frames in a log line, at any depth of its JSON. Returns any other line unchanged. */
function framesIn(line: string): string[] {
  try {
    const found: string[] = [];
    JSON.parse(line, (_key, value) => {
      if (typeof value === "string" && value.search(FRAME) >= 0) found.push(...value.split("\n"));
      return value;
    });
    return found;
  } catch {
    return [line];
  }
}

/**
 * Maps stack frames, or lines of a function's log, to the source. It omits log lines without frames.
 *
 * @param maps opens the source map of a function
 * @param functionName the function that wrote the input. By default a log line names it
 * @returns the lines to print
 * @throws Error in one line if a line with frames names no function
 */
export function* mapLog(input: string, maps: (name: string) => FindSource, functionName?: string) {
  for (const line of input.split("\n").filter((part) => part.trim() !== "")) {
    const frames = framesIn(line);
    if (frames.every((frame) => frame.search(FRAME) < 0)) {
      if (!line.startsWith("{")) yield line;
      continue;
    }
    const name = functionName ?? /"operation":\s*"(\w+)"/.exec(line)?.[1];
    if (!name) throw new Error("The input does not name a function: add --function, such as get-pet.");
    const find = maps(name);
    for (const frame of frames)
      yield frame.replace(FRAME, (position, row, column) => find(Number(row), Number(column)) ?? position);
  }
}
