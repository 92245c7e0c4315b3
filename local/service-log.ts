import { styleText } from "node:util";
import { formatAccessLog } from "../emulator/gateway/context.ts";
import type { HandledRequest } from "../emulator/gateway/gateway.ts";
import { contextVariable } from "../lib/caller.ts";
import { root } from "./assembly.ts";
import { withSourcePositions } from "./source-positions.ts";

/**
 * Returns where the service writes what it and its functions log: on a terminal short lines for a person, otherwise lines
 * of JSON as they are in CloudWatch.
 */
export function serviceLog(stream: { isTTY?: boolean; write: (text: string) => unknown }) {
  const write = (line: string) => void stream.write(`${line}\n`);
  const terminal = stream.isTTY;
  return {
    request: (request: HandledRequest, accessLogFormat: string): void =>
      write(terminal ? formatRequest(request) : formatAccessLog(accessLogFormat, request.variables)),
    /** @param text a line of a function, JSON or any text */
    function: (text: string): void => {
      const line = withSourcePositions(text);
      const shown = terminal ? formatFunctionLine(line) : line;
      if (shown) write(shown);
    },
  };
}

/** The colors of 1xx to 5xx. */
const COLORS = ["gray", "green", "cyan", "yellow", "red"] as const;

/** An API key, with any of its characters percent-encoded. */
const API_KEY = /(a|%[46]1)(s|%[57]3)(k|%[46]b)(_|%5f)[\w%]*/gi;

/** One short line: time, status, duration, key ID, request, and the cause of an error. What has any length is last. */
function formatRequest({ variables, url, body }: HandledRequest): string {
  const { httpMethod, status, responseLatency, "error.responseType": type = "" } = variables;
  const errorCode = Number(status) >= 400 && parse(body)?.code; // the body of a function can be any text
  const color = COLORS[Math.floor(Number(status) / 100) - 1] ?? "red";
  return [
    new Date().toTimeString().slice(0, 8),
    process.env.NO_COLOR ? status : styleText(color, String(status), { validateStream: false }),
    `${responseLatency} ms`.padStart(8),
    String(variables[contextVariable("keyId")] ?? "-").padEnd(20),
    String(httpMethod).padEnd(7),
    withoutValues(url)
      .replaceAll(/[^ -~]/g, "?")
      .replaceAll(API_KEY, "ask_...")
      .slice(0, 100),
    [errorCode, type.toLowerCase() === errorCode ? "" : type, variables["authorizer.error"]]
      .filter(Boolean)
      .join(", "),
  ]
    .join("  ")
    .trimEnd();
}

/** Returns the members of a JSON object, or undefined for any other text. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keeps only the names of the query parameters, because a value can be private. */
function withoutValues(url: string): string {
  const [path, query] = url.split("?");
  return query ? `${path}?${query.replaceAll(/=[^&]*/g, "")}` : (path ?? "");
}

/** What describeError returns. */
type LoggedError = { name: string; message?: string; stack?: string[]; cause?: LoggedError };

const textOf = ({ name, stack = [], message = stack[0] ? "" : "not an Error", cause }: LoggedError): string =>
  [message ? `${name}: ${message}` : name].concat(stack, cause ? `Cause: ${textOf(cause)}` : []).join("\n");

/** The stack frames in the sources of the functions, which are paths. Those in the emulator are URLs. */
const OWN_FRAMES = new RegExp(`^ +at .*(?<!file://)${RegExp.escape(root)}(?!node_modules/)(.*?)\\)?$`, "gm");

/** Hides the lines that only repeat a request. Of an error, hides the stack frames in packages and in Node. */
function formatFunctionLine(line: string): string | undefined {
  const entry = parse(line);
  if (!entry) return line;
  const { level, message } = entry as { level: string; message: unknown };
  if (level === "INFO") return undefined;
  const { error, stackTrace } = (message ?? {}) as { error?: LoggedError; stackTrace?: string[] };
  const other = typeof message === "string" ? message : (stackTrace?.join("\n") ?? JSON.stringify(message));
  const text = error?.name ? textOf(error) : other;
  const own = text.replaceAll(OWN_FRAMES, "  at $1");
  const shown = own === text ? text : own.replaceAll(/\n {4,}at .*/g, "");
  return `          ${level}  ${shown.replaceAll("\n", `\n${" ".repeat(17)}`)}`;
}
