import { createServer, type ServerResponse } from "node:http";
import { afterAll, describe, expect, it } from "@jest/globals";
import { errorBody } from "../../lib/errors.ts";
import { disconnect } from "../support/http.ts";
import { listen } from "../support/listen.ts";
import { ask, knownAnswers, type OpenQuestion, openQuestions } from "./contract/open-questions.ts";

const { CONTRACT_URL: url = "", CONTRACT_KEY: key = "" } = process.env;

afterAll(disconnect);

it.each(openQuestions)("$name is $expected here", async (question) => {
  expect((await ask(question, { url, key, known: [question.expected] })).faults).toEqual([]);
});

describe("an open question", () => {
  const question: OpenQuestion = { name: "", request: { path: "/" }, expected: "404 not_found", why: "" };

  /** Asks a server. */
  async function answer(respond: (response: ServerResponse) => void, asked = question, known?: string[]) {
    const { origin, close } = await listen(createServer((_, response) => respond(response)));
    return ask(asked, { url: origin, key: "ask_x", known }).finally(close);
  }
  const json = (status: number, body: unknown) => (response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

  it.each<[string, (response: ServerResponse) => void]>([
    ["404 not_found", json(404, errorBody("not_found"))],
    ["403 with another body", json(403, { message: "Forbidden" })],
    ["400 with another body", json(400, errorBody("not_found"))],
    ["400 text/html", (response) => response.writeHead(400, { "content-type": "text/html" }).end("<p>")],
    ["400 without a type", (response) => response.writeHead(400).end()],
    ["no response: ECONNRESET", (response) => response.destroy()],
  ])("accepts %s of AWS, and of an imitation only the expected answer", async (words, respond) => {
    expect(await answer(respond)).toEqual({ words, faults: [] });
    const expected = words === question.expected ? [] : [`It is ${words} instead of 404 not_found.`];
    expect((await answer(respond, question, [question.expected])).faults).toEqual(expected);
  });

  it.each([
    ["The contract has no success here.", json(200, [])],
    ["It repeats a header.", json(403, { message: "Bearer ask_x" })],
    ["It repeats a header.", (response: ServerResponse) => response.writeHead(403, { "x-a": "ask_x" }).end()],
    ["It has a stack trace.", json(400, { errorType: "Error" })],
    ["It has a stack trace.", json(400, { message: "at handler (/var/task/index.js:1:2)" })],
  ])("does not accept this of AWS either: %s", async (fault, respond) => {
    expect((await answer(respond)).faults).toEqual([fault]);
  });

  it("has known answers on this machine only", () => {
    const aws = "https://a1b2.execute-api.eu-west-1.amazonaws.com/v1";
    const known = [url, "http://127.0.0.1:1/v1", aws].map((url) =>
      knownAnswers({ ...question, emulator: "200" }, url),
    );
    expect(known).toEqual([["404 not_found", "200"], ["404 not_found", "200"], undefined]);
  });

  it("accepts only the success that does no harm", async () => {
    const creation = { ...question, harmless: 201 } as const;
    expect((await answer(json(201, {}), creation)).faults).toEqual([]);
    expect((await answer(json(200, []), creation)).faults).not.toEqual([]);
  });
});
