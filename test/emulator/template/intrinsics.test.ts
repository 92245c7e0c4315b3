import { expect, it } from "@jest/globals";
import { evaluate, type Json } from "../../../emulator/template/intrinsics.ts";

const join = (...values: Json[]) => ({ "Fn::Join": ["-", values] });

it("evaluates CloudFormation's intrinsic functions at any depth", () => {
  const pseudo = ["Region", "AccountId", "Partition", "URLSuffix"].map((name) => ({ Ref: `AWS::${name}` }));
  expect(evaluate([join(...pseudo), { a: { Ref: "PetsTable" }, b: null }])).toEqual([
    "local-000000000000-aws-localhost",
    { a: "PetsTable", b: null },
  ]);
  const arn = { "Fn::GetAtt": ["ListPets", "Arn"] };
  expect(evaluate(arn)).toBe("arn:aws:lambda:local:000000000000:function:ListPets");
  expect(evaluate({ "Fn::Select": [6, { "Fn::Split": [":", arn] }] })).toBe("ListPets");
  expect(evaluate({ "Fn::Sub": `\${AWS::Region}/\${Pets}` })).toBe("local/Pets");
  expect(() => evaluate({ "Fn::If": ["a", "b", "c"] })).toThrow(
    "The template has Fn::If, which is not supported.",
  );
});
