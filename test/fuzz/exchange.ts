import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Input } from "./http.ts";

/** An answer as it came over the wire. */
export interface Answer {
  status: number;
  headers: [string, string][];
  body: string;
}

// How long nothing more may come before a client takes the answers for complete, in milliseconds.
const QUIET_MS = 30;

/**
 * Sends an input over a connection of its own and reads the answers until no more come.
 *
 * @param patience milliseconds within which a complete request has to be answered
 * @throws Error when it is not, or when the answers break a rule of HTTP
 */
export function exchange(port: number, input: Input, patience: number): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let received: Buffer = Buffer.alloc(0);
    let sent = false;
    let quiet: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => end(new Error(`no answer within ${patience} ms`)), patience);

    function end(error?: Error): void {
      clearTimeout(timer);
      clearTimeout(quiet);
      socket.destroy();
      try {
        if (error) throw error;
        resolve(readAnswers(received, input.head));
      } catch (broken) {
        reject(broken);
      }
    }
    function settle(): void {
      clearTimeout(quiet);
      const answered = received.length > 0 && isWhole(received, input.head);
      if (sent && (answered || !input.complete)) quiet = setTimeout(end, QUIET_MS);
    }
    // The service may close while the rest of a refused request is still on its way.
    socket.on("error", () => undefined);
    socket.on("close", () => end());
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      settle();
    });
    socket.on("connect", async () => {
      for (const [index, piece] of input.pieces.entries()) {
        if (index > 0) await pause(input.pause);
        socket.write(piece);
      }
      sent = true;
      settle();
    });
  });
}

function isWhole(received: Buffer, head: boolean): boolean {
  try {
    return readAnswers(received, head).length > 0;
  } catch {
    return false;
  }
}

/**
 * Takes what was received apart, strictly: every byte belongs to an answer whose Content-Length is right.
 *
 * @param head whether the first answer has no body (RFC 9110, 9.3.2)
 * @throws Error saying what is wrong
 */
export function readAnswers(received: Buffer, head: boolean): Answer[] {
  const answers: Answer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error("the headers of an answer do not end");
    const [statusLine = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (!status) throw new Error(`no status line: ${statusLine}`);
    const headers = lines.map((line): [string, string] => {
      const [, name = "", value = ""] = /^([\w-]+): ?([\t -~]*)$/.exec(line) ?? [];
      if (!name) throw new Error(`no header: ${line}`);
      return [name.toLowerCase(), value];
    });
    rest = rest.subarray(end + 4);
    if (status < 200) continue;
    const length = Number(headers.find(([name]) => name === "content-length")?.[1]);
    // What could not be read is answered with a body, whatever its method was to be.
    const empty = head && answers.length === 0 && rest[0] !== "{".charCodeAt(0);
    const body = empty ? "" : rest.subarray(0, length).toString();
    if (!empty && !(rest.length >= length)) throw new Error("a body is shorter than its length");
    if (!empty) rest = rest.subarray(length);
    answers.push({ status, headers, body });
  }
  return answers;
}
