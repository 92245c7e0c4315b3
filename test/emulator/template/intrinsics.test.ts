import { expect, it } from "@jest/globals";
import { evaluate } from "../../../emulator/template/intrinsics.ts";

// The services and tests on the template use every function that it knows.
it("refuses an intrinsic function that it does not know, at any depth", () => {
  const value = [{ "Fn::Join": ["-", [{ "Fn::If": ["a", "b", "c"] }]] }];
  expect(() => evaluate(value)).toThrow("The template has Fn::If, which is not supported.");
});
