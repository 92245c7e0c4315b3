import { expect, it } from "@jest/globals";
import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

it.each(deployedStages)(
  "$name sets every type of gateway response that there is, with nothing that repeats what the client sent",
  ({ name }) => {
    const responses = readResources(shared.assembly, stackName(name)).find("ApiGateway::GatewayResponse");
    const types = Object.values(ResponseType).flatMap((type) =>
      type instanceof ResponseType ? type.responseType : [],
    );
    expect(types.length).toBeGreaterThan(15);
    expect(responses.map((response) => response.ResponseType).sort()).toEqual(types.sort());
    // Variables begin with a $.
    for (const { ResponseTemplates, ResponseParameters = {} } of responses)
      expect(JSON.stringify([ResponseTemplates, ResponseParameters])).not.toContain("$");
  },
);
