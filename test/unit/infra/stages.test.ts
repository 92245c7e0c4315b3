import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { stackName, stages } from "../../../infra/stages.ts";

const runbook = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
const row = (start: string) => runbook.split("\n").find((line) => line.startsWith(`| ${start} `));

it.each(stages)("the runbook names $name and its limits", ({ name, throttling, firewall }) => {
  const limit = (value: number) => value.toLocaleString("en");
  expect(runbook).toContain(stackName(name));
  expect(row("all clients of a stage")).toContain(`${name} ${limit(throttling.rate)}`);
  expect(row("all clients of a stage")).toContain(limit(throttling.burst));
  if (!firewall) return;
  expect(row("one API key")).toContain(`${name} about ${limit(firewall.keyLimit)}`);
  expect(row("one address")).toContain(`${name} about ${limit(firewall.addressLimit)}`);
});

it("names a stage in lower-case letters, as the keys of the stage do", () => {
  for (const { name } of stages) expect(name).toMatch(/^[a-z]+$/);
});
