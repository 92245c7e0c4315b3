import { expect, it } from "@jest/globals";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";

it.each<Operation>(operations)(
  "$id takes an Idempotency-Key if it creates: a retry must not add a second item",
  ({ method, path, headers, success }) => {
    const isCreation = method === "POST" && success.status === 201 && !path.endsWith("}");
    if (isCreation) expect(headers?.shape).toHaveProperty("Idempotency-Key");
  },
);

it.each<Operation>(operations)(
  "the deprecation of $id starts and ends with a day in UTC",
  ({ deprecation }) => {
    for (const instant of deprecation ? [deprecation.since, deprecation.sunset] : [])
      expect(instant.toISOString()).toMatch(/T00:00:00\.000Z$/);
  },
);

it.each<Operation>(operations)(
  "$id is not past its sunset: from then on it only returns 410, so remove it",
  ({ deprecation }) => {
    if (!deprecation || Date.now() < deprecation.sunset.getTime()) return;
    throw new Error(
      `From ${deprecation.sunset.toUTCString()} on: see "Retire an operation" in CONTRIBUTING.md.`,
    );
  },
);
