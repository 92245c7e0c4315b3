import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { ApiError } from "../../../lib/errors.ts";
import { describeError } from "../../../lib/log.ts";

const stack = expect.arrayContaining([expect.stringMatching(/^\s+at .*log\.test\.ts/)]);

it("describes an error by its name, its code and where it was thrown, and its causes likewise", () => {
  const error = new ApiError("internal_error", { cause: new SyntaxError("secret\nsecret at secret") });
  expect(describeError(error)).toStrictEqual({
    name: "ApiError",
    code: "internal_error",
    stack,
    cause: { name: "SyntaxError", stack },
  });
  expect(JSON.stringify(describeError(error))).not.toContain("secret");
});

it("includes the message of DynamoDB's own errors", () => {
  const $metadata = { httpStatusCode: 400, requestId: "1" };
  const error = new ConditionalCheckFailedException({ message: "The condition failed", $metadata });
  expect(describeError(error)).toStrictEqual({
    name: "ConditionalCheckFailedException",
    message: "The condition failed",
    metadata: $metadata,
    stack,
  });
});

it.each([
  ["secret", "string"],
  [undefined, "undefined"],
  [{ message: "secret" }, "object"],
])("describes %j, which is not an Error, by its type", (thrown, name) => {
  expect(describeError(thrown)).toStrictEqual({ name });
});

it("describes an error without a stack", () => {
  const error = new Error("secret");
  delete error.stack;
  expect(describeError(error)).toStrictEqual({ name: "Error", stack: undefined });
});
