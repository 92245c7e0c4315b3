import { type HttpRequest, type HttpResponse, send } from "../support/http.ts";

/** What a request has in addition to its method and path. Without an `Authorization`, it gets a valid key. */
interface Parts extends Pick<HttpRequest, "headers" | "body"> {
  /** in words */
  what?: string;
  /** a success that does no harm although the contract has none */
  harmless?: number;
}

const json: [string, string] = ["Content-Type", "application/json"];
const pet = '{"name":"Open question","categoryId":1}';
const list: Parts = { harmless: 200 };
const add: Parts = { headers: [json], body: pet, harmless: 201 };
const [invalid, notFound] = ["400 invalid_request", "404 not_found"];
const encoding = "It can refuse the encoding itself";
const parameter = `${encoding}, or drop the parameter`;
const decodes = "It can decode the path before it matches a route";
const signature = "AWS4-HMAC-SHA256 Credential=x";

/** The requests to which the response of API Gateway is neither documented nor recorded, until somebody asks AWS. */
const questions: [request: string, parts: Parts, here: string, why: string, aws?: string][] = [
  ["GET /pets/%ff", {}, notFound, encoding],
  ["GET /pets/%00", {}, notFound, encoding],
  ["GET /pets/%31%", {}, notFound, encoding],
  ["GET /pets/%2e%2e%2f", list, notFound, decodes],
  ["GET /..%2fpets", list, notFound, decodes],
  [
    "GET /pets//1",
    {},
    notFound,
    "Recorded for a greedy parameter only. It can merge the slashes, which is a 404 of `getPet`, or refuse them",
  ],
  ["GET /pets?cursor=%ff", list, invalid, parameter],
  ["GET /pets?cursor=%", list, invalid, parameter],
  ["GET /pets?cursor=%0d%0aSet-Cookie:x=y", list, invalid, parameter],
  [
    "POST /pets",
    { ...add, what: "with an empty `Idempotency-Key`", headers: [json, ["Idempotency-Key", ""]] },
    invalid,
    "It can drop an empty header",
  ],
  [
    "POST /pets",
    { ...add, what: "without `Content-Type`", headers: [] },
    "415 unsupported_media_type",
    "It can add `application/json`, as it does for mapping templates",
  ],
  [
    "POST /pets",
    { ...add, what: "with a byte order mark in the body", body: `\uFEFF${pet}` },
    invalid,
    "It can remove the mark when it decodes the body",
  ],
  [
    "POST /pets",
    { ...add, what: "with invalid UTF-8 in the body", body: Buffer.from(pet.replace("O", "\xff"), "latin1") },
    invalid,
    "It replaces the bytes by U+FFFD (recorded for S3: `test_apigw_s3_binary_support_request`)",
  ],
  [
    "POST /pets",
    { what: "with a body of 7 MB", headers: [json], body: pet.padEnd(7 * 2 ** 20) },
    "413 payload_too_large",
    "Lambda refuses an event over 6 MB. Which gateway response that becomes is not documented",
  ],
  [
    "GET /pets",
    { ...list, what: "with headers over 10,240 bytes", headers: [["X-Long", "x".repeat(10_240)]] },
    "431 without a type",
    "That is over its quota. How it refuses is not documented",
  ],
  [
    "GET /pets",
    {
      what: "with an invalid key of 5,000 characters",
      headers: [["Authorization", `Bearer ${"x".repeat(5000)}`]],
    },
    "401 unauthorized",
    "A limit for the token of an authorizer is not documented",
  ],
  [
    "GET /store/orders",
    { what: `with \`Authorization: ${signature}\``, headers: [["Authorization", signature]] },
    notFound,
    "It can read the header as a signature although the route needs none",
  ],
  [
    "FOO /pets",
    { what: "with a method that HTTP does not define" },
    "400 without a type",
    "It can refuse the method itself, or return the 405 of the route",
  ],
];

/** The questions of docs/aws-assumptions.md, whose table `npm run generate` writes. `here` is the local answer. */
export const openQuestions = questions.map(([line, { what, harmless, ...parts }, here, why, aws]) => {
  const [method = "", path = ""] = line.split(" ");
  const request: HttpRequest = { method, path, ...parts };
  return { name: `\`${line}\`${what ? ` ${what}` : ""}`, request, harmless, here, why, aws };
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
