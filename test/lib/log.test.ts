import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { ApiError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";

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

it("describes what is not an Error by its type, and an error without a stack", () => {
  expect(["secret", undefined].map(describeError)).toEqual([{ name: "string" }, { name: "undefined" }]);
  const error = Object.assign(new Error("secret"), { stack: undefined });
  expect(describeError(error)).toStrictEqual({ name: "Error", stack: undefined });
});
