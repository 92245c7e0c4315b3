import { type ErrorCode, errors } from "../../../lib/errors.ts";
import { type HttpRequest, type HttpResponse, send } from "../../support/http.ts";

/** A request to which the response of API Gateway is neither documented nor recorded. */
export interface OpenQuestion {
  /** in Markdown */
  name: string;
  /** gets a valid key unless it has an `Authorization` */
  request: HttpRequest;
  /** the local service's answer, in the words of `Answer` */
  expected: string;
  /** the emulator's answer, if it is another one */
  emulator?: string;
  /** what API Gateway can do instead */
  why: string;
  /** a success that does no harm although the contract has none */
  harmless?: 200 | 201;
}

const pet = '{"name":"Open question","categoryId":1}';
const largePet = `${pet.slice(0, -1)},"note":"${"x".repeat(7 * 2 ** 20)}"}`;
const petWithByte = (byte: number) =>
  Buffer.concat([Buffer.from('{"categoryId":1,"name":"'), Buffer.of(byte), Buffer.from('"}')]);
const json: [string, string] = ["Content-Type", "application/json"];

/** docs/aws-assumptions.md lists them, in this order. */
export const openQuestions: readonly OpenQuestion[] = [
  ...["%ff", "%00", "%31%"].map((id) => ({
    name: `\`GET /pets/${id}\``,
    request: { path: `/pets/${id}` },
    expected: "404 not_found",
    why: "It can refuse the encoding itself",
  })),
  ...["/pets/%2e%2e%2f", "/..%2fpets"].map((path) => ({
    name: `\`GET ${path}\``,
    request: { path },
    expected: "404 not_found",
    why: "It can decode the path before it matches a route",
    harmless: 200 as const,
  })),
  {
    name: "`GET /pets//1`",
    request: { path: "/pets//1" },
    expected: "404 not_found",
    why: "Recorded for a greedy parameter only. It can merge the slashes, which is a 404 of `getPet`, or refuse them",
  },
  ...["%ff", "%", "%0d%0aSet-Cookie:x=y"].map((cursor) => ({
    name: `\`GET /pets?cursor=${cursor}\``,
    request: { path: `/pets?cursor=${cursor}` },
    expected: "400 invalid_request",
    why: "It can refuse the encoding itself, or drop the parameter",
    harmless: 200 as const,
  })),
  {
    name: "`POST /pets` with an empty `Idempotency-Key`",
    request: { method: "POST", path: "/pets", headers: [json, ["Idempotency-Key", ""]], body: pet },
    expected: "400 invalid_request",
    why: "It can drop an empty header",
    harmless: 201,
  },
  {
    name: "`POST /pets` without `Content-Type`",
    request: { method: "POST", path: "/pets", body: pet },
    expected: "415 unsupported_media_type",
    why: "It can add `application/json`, as it does for mapping templates",
    harmless: 201,
  },
  {
    name: "`POST /pets` with a byte order mark in the body",
    request: { method: "POST", path: "/pets", headers: [json], body: `\uFEFF${pet}` },
    expected: "400 invalid_request",
    why: "It can remove the mark when it decodes the body",
    harmless: 201,
  },
  {
    name: "`POST /pets` with invalid UTF-8 in the body",
    request: { method: "POST", path: "/pets", headers: [json], body: petWithByte(0xff) },
    expected: "400 invalid_request",
    emulator: "201",
    why: "It replaces the bytes by U+FFFD (recorded for S3: `test_apigw_s3_binary_support_request`)",
    harmless: 201,
  },
  {
    name: "`POST /pets` with a body of 7 MB",
    request: { method: "POST", path: "/pets", headers: [json], body: largePet },
    expected: "413 payload_too_large",
    why: "Lambda refuses an event over 6 MB. Which gateway response that becomes is not documented",
  },
  {
    name: "`GET /pets` with headers over 10,240 bytes",
    request: { path: "/pets", headers: [["X-Long", "x".repeat(10_240)]] },
    expected: "431 without a type",
    emulator: "200",
    why: "That is over its quota. How it refuses is not documented",
    harmless: 200,
  },
  {
    name: "`GET /pets` with an invalid key of 5,000 characters",
    request: { path: "/pets", headers: [["Authorization", `Bearer ${"x".repeat(5000)}`]] },
    expected: "401 unauthorized",
    why: "A limit for the token of an authorizer is not documented",
  },
  {
    name: "`GET /store/orders` with `Authorization: AWS4-HMAC-SHA256 Credential=x`",
    request: { path: "/store/orders", headers: [["Authorization", "AWS4-HMAC-SHA256 Credential=x"]] },
    expected: "404 not_found",
    why: "It can read the header as a signature although the route needs none",
  },
  {
    name: "`FOO /pets`, a method that HTTP does not define",
    request: { method: "FOO", path: "/pets" },
    expected: "400 without a type",
    why: "It can refuse the method itself, or return the 405 of the route",
  },
];

/** What a deployment answered to an open question. */
export interface Answer {
  /** the status, with the code of an Error or else the type of the body: `404 not_found` */
  words: string;
  /** how it breaks the contract, whatever API Gateway does */
  faults: string[];
}

/** A stack trace, or the result of a function that threw. */
const TRACE = /\bat \S.*:\d+:\d+|"(stackTrace|errorType)"/;

/** Returns the code of an Error, or undefined for anything else. */
function readCode(text: string, status: number): string | undefined {
  try {
    const { code, message } = JSON.parse(text);
    const isError = errors[code as ErrorCode].status === status && message;
    return isError && text === JSON.stringify({ code, message, status }) ? code : undefined;
  } catch {
    return undefined;
  }
}

function judge(
  { request, harmless }: OpenQuestion,
  { status, headers, text }: HttpResponse,
  key: string,
): Answer {
  const type = headers.get("content-type") ?? "without a type";
  const received = JSON.stringify([...headers]) + text;
  const sent = (request.headers ?? []).filter(([name]) => name !== json[0]).map(([, value]) => value);
  const secrets = [key, ...sent.flatMap((value) => value.split(" ").slice(-1))].filter(Boolean);
  const success = status < 400;
  const code = success || type !== "application/json" ? type : readCode(text, status);
  const faults = [
    ...(success && status !== harmless ? ["The contract has no success here."] : []),
    ...(secrets.some((secret) => received.includes(secret)) ? ["It repeats a header."] : []),
    ...(TRACE.test(received) ? ["It has a stack trace."] : []),
  ];
  return { words: success ? String(status) : `${status} ${code ?? "with another body"}`, faults };
}

/** Says whether the local service or the emulator has this base URL. */
const isImitation = (url: string) => ["localhost", "127.0.0.1"].includes(new URL(url).hostname);

/** Returns the answers that a deployment can give, or undefined for AWS, whose answers are not known. */
export const knownAnswers = ({ expected, emulator = expected }: OpenQuestion, url: string) =>
  isImitation(url) ? [expected, emulator] : undefined;

/** Asks a question. @param known the answers that the deployment can give, if they are known */
export async function ask(
  question: OpenQuestion,
  { url, key, known }: { url: string; key: string; known: string[] | undefined },
): Promise<Answer> {
  const { request } = question;
  const headers = [...(request.headers ?? [])];
  if (!headers.some(([name]) => name === "Authorization")) headers.push(["Authorization", `Bearer ${key}`]);
  const { words, faults } = await send(url, { ...request, headers }).then(
    (response) => judge(question, response, key),
    ({ code, message }: NodeJS.ErrnoException): Answer => ({
      words: `no response: ${code ?? message}`,
      faults: [],
    }),
  );
  if (known && !known.includes(words)) faults.push(`It is ${words} instead of ${known[0]}.`);
  return { words, faults };
}

/** Returns a question's row of docs/aws-assumptions.md. @param answer of AWS */
export const row = ({ name, expected, why }: OpenQuestion, answer: string) =>
  `| ${[name, expected, answer, why].join(" | ")} |`;
