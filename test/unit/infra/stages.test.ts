import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { stackName, stages } from "../../../infra/stages.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const runbook = read("docs/operations.md");
const readme = read("README.md").replaceAll("\n", " ");
const row = (start: string) => runbook.split("\n").find((line) => line.startsWith(`| ${start} `));

it.each(stages)("the documents name $name and its limits", ({ name, throttling, firewall, ...stage }) => {
  const limit = (value: number) => value.toLocaleString("en");
  expect(runbook).toContain(stackName(name));
  expect(row("all clients of a stage")).toContain(`${name} ${limit(throttling.rate)}`);
  expect(row("all clients of a stage")).toContain(limit(throttling.burst));
  expect(readme).toContain(`API Gateway caches a valid key for ${stage.authorizerCacheSeconds} seconds`);
  if (!firewall) return;
  expect(row("one API key")).toContain(`${name} about ${limit(firewall.keyLimit)}`);
  expect(row("one address")).toContain(`${name} about ${limit(firewall.addressLimit)}`);
  expect(readme).toContain(`about ${limit(firewall.keyLimit)} requests a minute with one key`);
  expect(readme).toContain(`about ${limit(firewall.addressLimit)} a minute from one address`);
  expect(readme).toContain(`${limit(throttling.rate)} a second from all clients`);
});

it("logs every invocation only in staging, as docs/decisions/logs-and-traces.md says", () => {
  expect(stages.filter(({ invocationLog }) => invocationLog).map(({ name }) => name)).toEqual(["staging"]);
});

it("names a stage in lower-case letters, as the keys of the stage do", () => {
  for (const { name } of stages) expect(name).toMatch(/^[a-z]+$/);
});

it("protects a stage that keeps data: against deletion, against too many requests and against a bad release", () => {
  const kept = stages.filter(({ keepData }) => keepData);
  expect(kept.map(({ name }) => name)).toEqual(["production"]);
  for (const { protection, firewall, canary } of kept)
    expect([protection, firewall !== undefined, canary]).toEqual([true, true, true]);
});
