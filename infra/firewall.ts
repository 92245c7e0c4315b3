import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import type { Api } from "./api.ts";

/**
 * Blocks an address that sends too many requests, before they cost an authorizer call. API Gateway then responds with
 * WAF_FILTERED, which is a 429 because this is the only rule.
 *
 * @param limit requests per address in 5 minutes
 */
export function addFirewall(api: Api, limit: number): void {
  const visible = (metricName: string) => ({
    cloudWatchMetricsEnabled: true,
    metricName,
    sampledRequestsEnabled: false, // samples would hold the Authorization header
  });
  const firewall = new CfnWebACL(api, "Firewall", {
    scope: "REGIONAL",
    defaultAction: { allow: {} },
    visibilityConfig: visible("Firewall"),
    rules: [
      {
        name: "RateOfOneAddress",
        priority: 0,
        action: { block: {} },
        statement: { rateBasedStatement: { aggregateKeyType: "IP", limit, evaluationWindowSec: 300 } },
        visibilityConfig: visible("RateOfOneAddress"),
      },
    ],
  });
  new CfnWebACLAssociation(api, "FirewallAssociation", {
    resourceArn: api.restApi.deploymentStage.stageArn,
    webAclArn: firewall.attrArn,
  });
}
