import type { WriteStream } from "node:tty";
import { styleText } from "node:util";
import { formatAccessLog } from "../emulator/gateway/context.ts";
import type { HandledRequest } from "../emulator/gateway/gateway.ts";
import { maskApiKeys } from "../lib/api-key.ts";
import { contextVariable } from "../lib/caller.ts";
import { root } from "./assembly.ts";

/**
 * Returns where the service writes what it and its functions log: on a terminal short lines for a person, otherwise lines
 * of JSON as they are in CloudWatch.
 */
export function serviceLog(stream: WriteStream) {
  const write = (line: string) => void stream.write(`${line}\n`);
  const terminal = stream.isTTY;
  return {
    request: (request: HandledRequest, accessLogFormat: string): void =>
      write(terminal ? formatRequest(request, stream) : formatAccessLog(accessLogFormat, request.variables)),
    /** @param line of a function, JSON or any text */
    function: (line: string): void => {
      const shown = terminal ? formatFunctionLine(line, stream) : line;
      if (shown) write(shown);
    },
  };
}

/** The colors of 1xx to 5xx. */
const COLORS = ["gray", "green", "cyan", "yellow", "red"] as const;

/** One short entry: time, status, duration, request, the reason of an error, and the key ID. */
function formatRequest({ variables, url, body }: HandledRequest, stream: WriteStream): string {
  const { httpMethod, stage, status, responseLatency, "error.responseType": type = "" } = variables;
  const { code, message } = (Number(status) >= 400 && parse(body)) || {}; // the body of a function can be any text
  const outside = type === "MISSING_AUTHENTICATION_TOKEN" && !`${url}/`.startsWith(`/${stage}/`);
  const cause = outside ? `paths begin with /${stage}` : type.toLowerCase() === code ? "" : type;
  const texts = [code, cause, variables["authorizer.error"], Number(status) < 500 && !outside && message];
  const color = COLORS[Math.floor(Number(status) / 100) - 1] ?? "red";
  const shown = stream.hasColors() ? styleText(color, String(status), { validateStream: false }) : status;
  const parts = [
    `${responseLatency} ms`.padStart(8),
    String(httpMethod).padEnd(7),
    withoutValues(url).slice(0, 60),
    texts.filter(Boolean).join(", "),
    variables[contextVariable("keyId")],
  ];
  const text = parts
    .filter(Boolean)
    .join("  ")
    .replaceAll(/[^ -~]/g, "?");
  return `${new Date().toTimeString().slice(0, 8)}  ${shown}  ${wrap(maskApiKeys(text), 15, stream)}`;
}

/** Breaks lines at words to fit the terminal, and indents all but the first one. A longer word stays whole. */
function wrap(text: string, indent: number, { columns }: WriteStream): string {
  const width = Math.max((columns || 80) - indent, 20); // some terminals have no width, or a useless one
  const lines = text.replaceAll(new RegExp(`(.{0,${width - 1}}\\S)(?: +|$)\\n?`, "gm"), "$1\n").trimEnd();
  return lines.replaceAll("\n", `\n${" ".repeat(indent)}`);
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
function formatFunctionLine(line: string, stream: WriteStream): string | undefined {
  const entry = parse(line);
  if (!entry) return line;
  const { level, message } = entry as { level: string; message: unknown };
  if (level === "INFO") return undefined;
  const { error, stackTrace } = (message ?? {}) as { error?: LoggedError; stackTrace?: string[] };
  const other = typeof message === "string" ? message : (stackTrace?.join("\n") ?? JSON.stringify(message));
  const text = error?.name ? textOf(error) : other;
  const own = text.replaceAll(OWN_FRAMES, "  at $1");
  const shown = own === text ? text : own.replaceAll(/\n {4,}at .*/g, "");
  return `          ${level}  ${wrap(shown, 17, stream)}`;
}
