import { maskApiKeys } from "../../lib/api-key.ts";
import type { HandledRequest } from "../emulator/gateway/gateway.ts";

/** Returns one short line: time, status, duration, request, the reason of an error, and the key ID. */
export function requestLine({ method, url, status, body, durationMs, caller }: HandledRequest): string {
  const [path = ""] = url.split("?"); // a value of the query can be private
  const [, code, message] = /^\{"code":"(\w+)","message":"(.*)","status"/.exec(body) ?? []; // of an Error
  const reason = status < 500 ? [code, message] : [code];
  const request = [`${durationMs} ms`.padStart(8), method.padEnd(6), path.slice(0, 60)];
  const text = [...request, ...reason, caller.keyId].filter(Boolean).join("  ");
  const printable = text.replaceAll(/[^ -~]/g, "?"); // the rest would garble a terminal
  return `${new Date().toTimeString().slice(0, 8)}  ${status}  ${maskApiKeys(printable)}`;
}
