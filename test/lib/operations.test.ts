import { expect, it } from "@jest/globals";
import type { Operation } from "../../lib/operation.ts";
import { operations } from "../../lib/operations.ts";

it.each<Operation>(operations)(
  "$id takes an Idempotency-Key if it creates: a retry must not add a second pet",
  ({ method, path, headers }) => {
    if (method === "POST" && !path.includes("{")) expect(headers?.shape).toHaveProperty("Idempotency-Key");
  },
);

it.each<Operation>(operations)(
  "$id is deprecated from the start of a day in UTC to the start of another, if it is",
  ({ deprecation }) => {
    for (const instant of deprecation ? [deprecation.since, deprecation.sunset] : [])
      expect(instant.toISOString()).toMatch(/T00:00:00\.000Z$/);
  },
);

it.each<Operation>(operations)(
  "$id is not past its sunset: from then on it only returns 410, so remove it",
  ({ deprecation }) => {
    const now = new Date(); // Date.now() is set back: see jest.config.js
    if (deprecation) expect(deprecation.sunset.getTime()).toBeGreaterThan(now.getTime());
  },
);
