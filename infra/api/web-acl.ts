import { Stack } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import type { Construct } from "constructs";
import type { Stage } from "../stages.ts";

const visible = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  sampledRequestsEnabled: false, // samples would hold the Authorization header
});

/**
 * Blocks an address or an API key that sends too many requests, before they cost an authorizer call. API Gateway then
 * responds with WAF_FILTERED, which is a 429 because every rule is about the rate.
 */
export function addWebAcl(
  scope: Construct,
  restApi: RestApi,
  { perIpPerMinute, perKeyPerMinute }: NonNullable<Stage["wafRateLimits"]>,
): void {
  // Counts all spellings of a key together: any case of "Bearer", any number of spaces. Keys that differ only in case
  // would also count together; two such keys are never issued, because they have 27 random characters.
  const textTransformations = ["LOWERCASE", "COMPRESS_WHITE_SPACE"].map((type, priority) => ({
    type,
    priority,
  }));
  const rates = {
    RateOfOneAddress: { aggregateKeyType: "IP", limit: perIpPerMinute, evaluationWindowSec: 60 },
    // This rule ignores a request without the header.
    RateOfOneKey: {
      aggregateKeyType: "CUSTOM_KEYS",
      customKeys: [{ header: { name: "Authorization", textTransformations } }],
      limit: perKeyPerMinute,
      evaluationWindowSec: 60,
    },
  };
  const acl = new CfnWebACL(scope, "WebAcl", {
    scope: "REGIONAL",
    defaultAction: { allow: {} },
    // Every web ACL of the account and region reports to AWS/WAFV2: without the stack's name they would share a metric.
    visibilityConfig: visible(`${Stack.of(scope).stackName}-WebAcl`),
    rules: Object.entries(rates).map(([name, rateBasedStatement], priority) => ({
      name,
      priority,
      action: { block: {} },
      statement: { rateBasedStatement },
      visibilityConfig: visible(name),
    })),
  });
  new CfnWebACLAssociation(scope, "WebAclAssociation", {
    resourceArn: restApi.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  });
}
