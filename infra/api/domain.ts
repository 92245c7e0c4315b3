import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import type { Construct } from "constructs";
import { API_VERSION } from "../../lib/operation.ts";
import type { Stage } from "../stages.ts";

/**
 * TLS 1.2 or 1.3 with forward secrecy, for both the default endpoint and the custom domain name. Without a policy, the
 * default endpoint accepts TLS 1.0. A policy of this kind requires an access mode. STRICT rejects a request whose Host
 * header differs from the name in its TLS handshake.
 */
export const TLS = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
};

/**
 * Serves the API under a custom domain name, with its version as the base path.
 *
 * @returns the base URL under that name
 */
export function addDomain(scope: Construct, restApi: RestApi, domain: NonNullable<Stage["domain"]>): string {
  const { name, certificateArn, hostedZoneId, hostedZoneName } = domain;
  const domainName = new DomainName(scope, "Domain", {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, "Certificate", certificateArn),
    endpointType: EndpointType.REGIONAL,
    ...TLS,
  });
  domainName.addBasePathMapping(restApi, { basePath: API_VERSION });
  const zone = { hostedZoneId, zoneName: hostedZoneName };
  new ARecord(scope, "DomainRecord", {
    zone: HostedZone.fromHostedZoneAttributes(scope, "HostedZone", zone),
    recordName: `${name}.`,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  });
  return `https://${name}/${API_VERSION}`;
}
