import { describe, expect, it } from "@jest/globals";
import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { stackName } from "../../../infra/names.ts";
import { readStack } from "../../../tools/emulator/template/template.ts";
import { readResources } from "../../support/resources.ts";
import { stageVariants } from "../../support/stages.ts";

describe.each(stageVariants)("the stack of $name, $settings", ({ name, assembly }) => {
  const stack = stackName(name);
  const { find, only } = readResources(assembly, stack);
  const { routes } = readStack(assembly, stack);

  it("requires authorization for everything but unknown paths, which API Gateway must not handle itself", () => {
    const open = routes.filter(({ requiresAuthorization }) => !requiresAuthorization);
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(["ANY ", "ANY /{proxy+}"]);
    for (const { integration } of open)
      expect(integration).toMatchObject({ type: "MOCK", response: { status: 404 } });
    const authorizers = find("ApiGateway::Method").map((method) =>
      method.AuthorizationType === "CUSTOM" ? method.AuthorizerId : method.AuthorizationType,
    );
    expect(new Set(authorizers)).toEqual(new Set(["NONE", only("ApiGateway::Authorizer").id]));
  });

  it("sets every type of gateway response, with nothing that repeats what the client sent", () => {
    const responses = find("ApiGateway::GatewayResponse");
    const types = Object.values(ResponseType).flatMap(({ responseType = [] }) => responseType);
    expect(responses.map((response) => response.ResponseType).sort()).toEqual(types.sort());
    for (const { ResponseTemplates, ResponseParameters = {} } of responses)
      expect(JSON.stringify([ResponseTemplates, ResponseParameters])).not.toContain("$"); // of variables
  });
});
