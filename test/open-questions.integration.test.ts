import { afterAll, expect, it } from "@jest/globals";
import { ask, judge, openQuestions } from "./contract/open-questions.ts";
import { disconnect } from "./support/http.ts";
import { shared } from "./support/shared.ts";

afterAll(disconnect);

it.each(openQuestions)("$name is $here here", async (question) => {
  expect(await ask(question, shared.baseUrl, shared.key)).toEqual({ answer: question.here, faults: [] });
});

it.each([
  ["The contract has no success here.", 200, ""],
  ["It repeats a header.", 403, '{"message":"Bearer ask_x"}'],
  ["It has a stack trace.", 400, '{"message":"at handler (/var/task/index.js:1:2)"}'],
])("does not accept this of AWS either: %s", (fault, status, text) => {
  const sent: [string, string][] = [["Authorization", "Bearer ask_x"]];
  expect(judge(sent, 201, { status, headers: new Headers(), text }).faults).toEqual([fault]);
});
