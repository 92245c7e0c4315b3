import fc from "fast-check";
import { anyBytes, authorization, body, bytes, contentType, noise, target } from "./values.ts";

/** One thing to send: bytes, in the pieces in which they leave. */
export interface Input {
  pieces: Buffer[];
  /** milliseconds between two pieces */
  pause: number;
  /** whether the first request is one whose answers have no body */
  head: boolean;
  /** whether it is a whole request, so that an answer is due; the service may wait for more of another */
  complete: boolean;
}

const chunked = (content: Buffer) =>
  Buffer.concat([bytes(`${content.length.toString(16)}\r\n`), content, bytes("\r\n0\r\n\r\n")]);

type Framing = (content: Buffer) => [headers: string[], sent: Buffer];

/** How a body is announced and sent; all but the first two are wrong or ambiguous, as smugglers send them. */
const framings: Framing[] = [
  (content) => [[`Content-Length: ${content.length}`], content],
  (content) => [["Transfer-Encoding: chunked"], content.length > 0 ? chunked(content) : bytes("0\r\n\r\n")],
  (content) => [[`Content-Length: ${content.length}`, "Transfer-Encoding: chunked"], chunked(content)],
  (content) => [[`Content-Length: ${Math.max(0, content.length - 3)}`], content],
  (content) => [[`Content-Length: ${content.length}`, `Content-Length: ${content.length + 1}`], content],
  (content) => [[`Content-Length: +${content.length}`], content],
  (content) => [["Content-Length: 99999999999999999999"], content],
  (content) => [["Transfer-Encoding: xchunked"], chunked(content)],
  (content) => [["Transfer-Encoding : chunked"], chunked(content)],
  (content) => [["Transfer-Encoding: chunked, identity"], chunked(content)],
  (content) => [
    ["Content-Length: 0"],
    Buffer.concat([bytes("GET /v1/pets HTTP/1.1\r\nHost: b\r\n\r\n"), content]),
  ],
];

/** Bodies whose end the service may wait for. */
const endless: Framing[] = [
  (content) => [[`Content-Length: ${content.length + 5}`], content],
  () => [["Transfer-Encoding: chunked"], bytes("ffffffffffffffff\r\n")],
  (content) => [["Transfer-Encoding: chunked"], Buffer.concat([bytes("1;x=\ny\r\n"), content])],
];

/**
 * Requests of every kind, from valid ones to what is no HTTP at all.
 *
 * @param key a good API key
 */
export function inputs(key: string): fc.Arbitrary<Input> {
  const request = fc
    .record({
      method: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom("GET", "POST") },
        { weight: 2, arbitrary: fc.constantFrom("PUT", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "PRI") },
      ),
      target,
      version: fc.oneof(
        { weight: 9, arbitrary: fc.constant("1.1") },
        { weight: 1, arbitrary: fc.constantFrom("1.0", "2.0", "0.9", "1.10", "x") },
      ),
      authorization: authorization(key),
      contentType,
      noise: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(noise, { maxLength: 3 }) },
      ),
      body: fc.oneof({ weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) }, { weight: 2, arbitrary: body }),
      framing: fc.oneof(
        { weight: 12, arbitrary: fc.constant(framings[0] as Framing) },
        { weight: 4, arbitrary: fc.constantFrom(...framings) },
        { weight: 1, arbitrary: fc.constantFrom(...endless) },
      ),
    })
    .map((parts) => {
      const [headers, content] = parts.framing(parts.body);
      const lines = [
        `${parts.method} ${parts.target} HTTP/${parts.version}`,
        "Host: 127.0.0.1",
        `Authorization: ${parts.authorization}`,
        `Content-Type: ${parts.contentType}`,
        ...headers,
        ...parts.noise,
      ];
      // Latin-1, so that a header can hold any byte.
      const start = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
      const complete = !endless.includes(parts.framing);
      return { head: parts.method === "HEAD", complete, content: Buffer.concat([start, content]) };
    });
  const anything = fc.oneof(
    { weight: 30, arbitrary: request },
    { weight: 1, arbitrary: anyBytes.map((content) => ({ head: false, complete: false, content })) },
  );
  return fc
    .tuple(
      anything,
      fc.oneof(
        { weight: 20, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.integer({ min: 2, max: 8 }) },
      ),
      fc.nat(20),
    )
    .map(([{ head, complete, content }, count, pause]) => {
      const size = Math.max(1, Math.ceil(content.length / count));
      const pieces = Array.from({ length: count }, (_, n) => content.subarray(n * size, (n + 1) * size));
      return { head, complete, pause, pieces: pieces.filter((piece) => piece.length > 0) };
    });
}
