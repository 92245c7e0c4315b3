import { ThrottlingException } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { ApiError, errors } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { NewPet } from "../../lib/pet.ts";

const stack = expect.arrayContaining([expect.stringMatching(/^\s+at .*log\.test\.ts/)]);

it("describes an error and its causes by name, message, code and place", () => {
  const { error: invalid } = NewPet.safeParse({ name: ["secret"], categoryId: "secret" });
  const error = new ApiError("internal_error", {
    cause: new SyntaxError("secret\nsecret at secret", { cause: invalid }),
  });
  expect(describeError(error)).toStrictEqual({
    name: "ApiError",
    message: errors.internal_error.message,
    code: "internal_error",
    stack,
    // A parser quotes its input, a schema does not.
    cause: {
      name: "SyntaxError",
      stack,
      cause: { name: "$ZodError", message: expect.stringContaining("categoryId"), stack: [] },
    },
  });
  expect(JSON.stringify(describeError(error))).not.toContain("secret");
});

it("includes the response of DynamoDB, and what it throttled and why", () => {
  const throttlingReasons = [{ reason: "IndexWriteKeyRangeThroughputExceeded", resource: "byStatus" }];
  const $metadata = { httpStatusCode: 400, requestId: "1" };
  const error = new ThrottlingException({ message: "Throttled", throttlingReasons, $metadata });
  expect(describeError(error)).toMatchObject({ metadata: $metadata, throttlingReasons });
  const other = Object.assign(new Error(), { ThrottlingReasons: throttlingReasons });
  expect(describeError(other)).toMatchObject({ throttlingReasons });
});
