import { expect, it } from "@jest/globals";
import { evaluate } from "../../../../local/assembly/intrinsics.ts";

it.each([
  [{ Ref: "PetsTable" }, "PetsTable"],
  [{ "Fn::Join": ["-", [{ Ref: "AWS::Region" }, { Ref: "AWS::AccountId" }]] }, "local-000000000000"],
  [
    { "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ".", { Ref: "AWS::URLSuffix" }]] },
    "arn:aws.localhost",
  ],
  [{ "Fn::GetAtt": ["ListPets", "Arn"] }, "arn:aws:lambda:local:000000000000:function:ListPets"],
  [{ "Fn::Select": [1, { "Fn::Split": [":", { "Fn::Join": [":", ["a", "b"]] }] }] }, "b"],
  [
    { a: [{ Ref: "b" }], c: null, "Fn::Unknown": 1 },
    { a: ["b"], c: null, "Fn::Unknown": 1 },
  ],
])("evaluates %j", (value, expected) => {
  expect(evaluate(value)).toEqual(expected);
});
