import { readFileSync } from "node:fs";
import { type HttpRequest, type HttpResponse, send } from "../support/http.ts";

const pet = '{"name":"Open question","categoryId":1}';
const json: [string, string] = ["Content-Type", "application/json"];
const list = { harmless: 200 };

/**
 * What a request has in addition to its method and path, and a success that does no harm although the contract has none.
 * A request without an `Authorization` gets a valid key.
 */
export const details: Record<string, Pick<HttpRequest, "headers" | "body"> & { harmless?: number }> = {
  "`GET /pets/%2e%2e%2f`": list,
  "`GET /..%2fpets`": list,
  "`GET /pets?cursor=%ff`": list,
  "`GET /pets?cursor=%`": list,
  "`GET /pets?cursor=%0d%0aSet-Cookie:x=y`": list,
  "`POST /pets` with an empty `Idempotency-Key`": {
    headers: [json, ["Idempotency-Key", ""]],
    body: pet,
    harmless: 201,
  },
  "`POST /pets` without `Content-Type`": { body: pet, harmless: 201 },
  "`POST /pets` with a byte order mark in the body": { headers: [json], body: `\uFEFF${pet}`, harmless: 201 },
  "`POST /pets` with invalid UTF-8 in the body": {
    headers: [json],
    body: Buffer.from(pet.replace("O", "\xff"), "latin1"),
    harmless: 201,
  },
  "`POST /pets` with a body of 7 MB": { headers: [json], body: pet.padEnd(7 * 2 ** 20) },
  "`GET /pets` with headers over 10,240 bytes": { headers: [["X-Long", "x".repeat(10_240)]], ...list },
  "`GET /pets` with an invalid key of 5,000 characters": {
    headers: [["Authorization", `Bearer ${"x".repeat(5000)}`]],
  },
  "`GET /store/orders` with `Authorization: AWS4-HMAC-SHA256 Credential=x`": {
    headers: [["Authorization", "AWS4-HMAC-SHA256 Credential=x"]],
  },
};

const register = readFileSync(new URL("../../docs/aws-assumptions.md", import.meta.url), "utf8");
const [, rows = ""] = /^\| Request .*\n.*\n((?:\|.*\n)+)/m.exec(register) ?? [];

/** The requests of docs/aws-assumptions.md to which the response of API Gateway is neither documented nor recorded. */
export const openQuestions = rows
  .trim()
  .split("\n")
  .map((row) => {
    const [name = "", expected = "", , why = ""] = row.slice(2, -2).split(/ +\| /);
    const [, method = "", path = ""] = /^`(\w+) ([^`]+)`/.exec(name) ?? [];
    const { harmless, ...rest } = details[name] ?? {};
    return { name, request: { method, path, ...rest } as HttpRequest, expected, why: why.trim(), harmless };
  });
type OpenQuestion = (typeof openQuestions)[number];

/** A stack trace, or the result of a function that threw. */
const TRACE = /\bat \S.*:\d+:\d+|"(stackTrace|errorType)"/;

/**
 * Judges an answer to an open question.
 *
 * @param sent the headers of the request
 * @returns the status with the code of an Error, or else the type of the body: `404 not_found`. And how the answer breaks
 *   the contract, whatever API Gateway does
 */
export function judge(
  sent: [string, string][],
  harmless: number | undefined,
  { status, headers, text }: Pick<HttpResponse, "status" | "headers" | "text">,
) {
  const [, code, own] = /^\{"code":"(\w+)","message":".+","status":(\d+)\}$/.exec(text) ?? [];
  const kind = Number(own) === status ? code : (headers.get("content-type") ?? "without a type");
  const received = JSON.stringify([...headers]) + text;
  const secrets = sent.flatMap(([name, value]) => (name === json[0] ? [] : value.split(" ").slice(-1)));
  const faults = [
    ...(status < 400 && status !== harmless ? ["The contract has no success here."] : []),
    ...(secrets.some((secret) => secret && received.includes(secret)) ? ["It repeats a header."] : []),
    ...(TRACE.test(received) ? ["It has a stack trace."] : []),
  ];
  return { answer: status < 400 ? String(status) : `${status} ${kind}`, faults };
}

/** Asks a question. The result is that of `judge`. */
export async function ask({ request, harmless }: OpenQuestion, url: string, key: string) {
  const headers = [...(request.headers ?? [])];
  if (!headers.some(([name]) => name === "Authorization")) headers.push(["Authorization", `Bearer ${key}`]);
  return send(url, { ...request, headers }).then(
    (response) => judge(headers, harmless, response),
    ({ code, message }: NodeJS.ErrnoException) => ({ answer: `no response: ${code ?? message}`, faults: [] }),
  );
}
