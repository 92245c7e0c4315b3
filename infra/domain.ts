import { DomainName, EndpointType, SecurityPolicy } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { API_VERSION } from "../lib/operations.ts";
import type { Api } from "./api.ts";
import type { Stage } from "./stages.ts";

/**
 * Serves the API under a custom domain name, with its version as the base path.
 *
 * @returns the base URL under that name
 */
export function addDomain(api: Api, domain: NonNullable<Stage["domain"]>): string {
  const { name, certificateArn, hostedZoneId, hostedZoneName } = domain;
  const domainName = new DomainName(api, "Domain", {
    domainName: name,
    certificate: Certificate.fromCertificateArn(api, "Certificate", certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  domainName.addBasePathMapping(api.restApi, { basePath: API_VERSION });
  new ARecord(api, "DomainRecord", {
    zone: HostedZone.fromHostedZoneAttributes(api, "HostedZone", { hostedZoneId, zoneName: hostedZoneName }),
    recordName: `${name}.`,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  });
  return `https://${name}/${API_VERSION}`;
}
