import { Stack } from "aws-cdk-lib";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";
import type { Stage } from "../stages.ts";
import type { Api } from "./api.ts";

const visible = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  sampledRequestsEnabled: false, // samples would hold the Authorization header
});

/**
 * Blocks an address or an API key that sends too many requests, before they cost an authorizer call. API Gateway then
 * responds with WAF_FILTERED, which is a 429 because every rule is about the rate.
 */
export class WebAcl extends Construct {
  /** the requests that each rule blocked */
  readonly blockedByRule: Metric[];
  /** the requests that it blocked; AWS WAF reports no 0 */
  readonly blocked: Metric;
  /** the requests that it allowed; AWS WAF reports no 0 */
  readonly allowed: Metric;

  constructor(
    api: Api,
    id: string,
    { perIpPerMinute, perKeyPerMinute }: NonNullable<Stage["wafRateLimits"]>,
  ) {
    super(api, id);
    // Every web ACL of the account and region reports to AWS/WAFV2: without the stack's name they would share a metric.
    const metricName = `${Stack.of(this).stackName}-${id}`;
    // Counts every spelling of a key as one: any case of "Bearer", any number of spaces. Keys that differ only in case
    // would also be one; two such keys are never issued, because they have 27 random characters.
    const textTransformations = ["LOWERCASE", "COMPRESS_WHITE_SPACE"].map((type, priority) => ({
      type,
      priority,
    }));
    const rates = {
      RateOfOneAddress: { aggregateKeyType: "IP", limit: perIpPerMinute, evaluationWindowSec: 60 },
      // It does not count a request without the header.
      RateOfOneKey: {
        aggregateKeyType: "CUSTOM_KEYS",
        customKeys: [{ header: { name: "Authorization", textTransformations } }],
        limit: perKeyPerMinute,
        evaluationWindowSec: 60,
      },
    };
    const acl = new CfnWebACL(this, "Acl", {
      scope: "REGIONAL",
      defaultAction: { allow: {} },
      visibilityConfig: visible(metricName),
      rules: Object.entries(rates).map(([name, rateBasedStatement], priority) => ({
        name,
        priority,
        action: { block: {} },
        statement: { rateBasedStatement },
        visibilityConfig: visible(name),
      })),
    });
    new CfnWebACLAssociation(this, "Association", {
      resourceArn: api.restApi.deploymentStage.stageArn,
      webAclArn: acl.attrArn,
    });
    const count = (name: string, rule: string) =>
      new Metric({
        namespace: "AWS/WAFV2",
        metricName: name,
        statistic: Stats.SUM,
        label: rule,
        dimensionsMap: { WebACL: metricName, Rule: rule, Region: Stack.of(this).region },
      });
    this.blockedByRule = Object.keys(rates).map((rule) => count("BlockedRequests", rule));
    this.blocked = count("BlockedRequests", "ALL");
    this.allowed = count("AllowedRequests", "ALL");
  }
}
