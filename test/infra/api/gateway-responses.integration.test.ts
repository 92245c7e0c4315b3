import { expect, it } from "@jest/globals";
import { stackName } from "../../../infra/names.ts";
import { deployedStages } from "../../../infra/stages.ts";
import { type ErrorCode, errorBody, errorHeaders, errors } from "../../../lib/errors.ts";
import { readResources } from "../../support/resources.ts";
import { shared } from "../../support/shared.ts";

/** Every type of gateway response, from API Gateway's documentation, by the error that a client gets. */
const gatewayResponses = {
  unauthorized: "ACCESS_DENIED EXPIRED_TOKEN INVALID_API_KEY UNAUTHORIZED", // the authorizer denies invalid keys
  internal_error: "API_CONFIGURATION_ERROR DEFAULT_5XX",
  unavailable: "AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE INTEGRATION_FAILURE",
  timeout: "INTEGRATION_TIMEOUT",
  invalid_request: "BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX",
  not_found: "INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN RESOURCE_NOT_FOUND", // no operation uses IAM
  too_many_requests: "QUOTA_EXCEEDED THROTTLED WAF_FILTERED",
  payload_too_large: "REQUEST_TOO_LARGE",
  unsupported_media_type: "UNSUPPORTED_MEDIA_TYPE",
};

it.each(deployedStages)(
  "$name returns a static Error body and the headers of its code for every type of gateway response",
  ({ name }) => {
    const { find } = readResources(shared.assembly, stackName(name));
    const types: Record<string, string> = {};
    for (const response of find("ApiGateway::GatewayResponse")) {
      const { ResponseType, StatusCode, ResponseTemplates, ResponseParameters = {} } = response;
      const { "application/json": template, ...others } = ResponseTemplates;
      expect(template).not.toContain("$");
      const code: ErrorCode = JSON.parse(template).code;
      expect([StatusCode, JSON.parse(template), others]).toEqual([
        String(errors[code].status),
        errorBody(code),
        {},
      ]);
      const headers = Object.entries(errorHeaders(code)).map(([name, value]) => [
        `gatewayresponse.header.${name}`,
        // AWS WAF blocks for longer. It counts the requests of the last minute.
        ResponseType === "WAF_FILTERED" ? expect.stringMatching(/^'([1-5]\d|60)'$/) : `'${value}'`,
      ]);
      expect(ResponseParameters).toEqual(Object.fromEntries(headers));
      types[ResponseType] = code;
    }
    const expected = Object.entries(gatewayResponses).flatMap(([code, names]) =>
      names.split(" ").map((type) => [type, code]),
    );
    expect(types).toEqual(Object.fromEntries(expected));
  },
);
