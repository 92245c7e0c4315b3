import { describe, expect, it } from "@jest/globals";
import { LIVE_ALIAS, stackName } from "../../infra/names.ts";
import { arnOf, functionNames, readResources } from "../support/resources.ts";
import { stageVariants } from "../support/stages.ts";

describe.each(stageVariants)("in $name, $settings", ({ name: stage, assembly, retainData }) => {
  const { find, fn } = readResources(assembly, stackName(stage));
  const callers = [...find("ApiGateway::Authorizer"), ...find("ApiGateway::Method")].map(
    ({ AuthorizerUri, Integration }) => AuthorizerUri ?? Integration.Uri,
  );

  it.each(functionNames)("%s has an alias of its newest version, which API Gateway calls", (name) => {
    const alias = find("Lambda::Alias").find(({ FunctionName }) => FunctionName === fn(name).id);
    expect(alias).toMatchObject({
      Name: LIVE_ALIAS,
      FunctionVersion: expect.stringContaining("CurrentVersion"),
    });
    expect(callers.filter((uri) => uri?.endsWith(`/functions/${alias?.id}/invocations`))).toHaveLength(1);
  });

  it("a function can be moved back: old versions stay, and their roles where data stays", () => {
    for (const { UpdateReplacePolicy, DeletionPolicy } of find("Lambda::Version"))
      expect([UpdateReplacePolicy, DeletionPolicy]).toEqual(["Retain", "RetainExceptOnCreate"]);
    const roles = find("IAM::Role").filter(({ id }) =>
      functionNames.some((name) => fn(name).Role === arnOf(id)),
    );
    expect(roles).toHaveLength(functionNames.length);
    for (const one of roles) expect(one.UpdateReplacePolicy).toBe(retainData ? "Retain" : "Delete");
  });
});
