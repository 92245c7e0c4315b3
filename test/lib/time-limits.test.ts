import { expect, it } from "@jest/globals";
import { FUNCTION_TIMEOUT_MS } from "../../lib/time-limits.ts";

it("a function ends before API Gateway gives up, after 29 seconds", () => {
  expect(FUNCTION_TIMEOUT_MS).toBeLessThan(29_000);
});
