import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { Api } from "./api/api.ts";
import { addDomain } from "./api/domain.ts";
import { addWebAcl } from "./api/web-acl.ts";
import { type CodeFolder, createFunctions } from "./function-set.ts";
import { Alarms } from "./monitoring/alarms.ts";
import { addDashboard } from "./monitoring/dashboard.ts";
import { addStageAlarms } from "./monitoring/stage-alarms.ts";
import { functionOutput, stackName, tableOutput } from "./names.ts";
import type { Stage } from "./stages.ts";
import { createTables } from "./tables.ts";

/** One stage of the whole service. */
export class AnimalStoreStack extends Stack {
  /** @param runbook the address of docs/incidents.md, for the messages of the alarms */
  constructor(scope: Construct, stage: Stage, codeFolder: CodeFolder, runbook?: string) {
    super(scope, stackName(stage.name), {
      description: `The Animal Store API, ${stage.name}`,
      terminationProtection: stage.deletionProtection,
      tags: { service: "animal-store", stage: stage.name },
    });
    const tables = createTables(this, stage);
    const functions = createFunctions(this, tables, stage, codeFolder);
    const alarms = new Alarms(this, "Alarms", stage, runbook);

    const api = new Api(this, "Api", functions, stage);
    if (stage.wafRateLimits) addWebAcl(api, api.restApi, stage.wafRateLimits);
    const baseUrl = stage.domain ? addDomain(api, api.restApi, stage.domain) : api.baseUrl;

    addStageAlarms(alarms, api, functions);
    addDashboard(this, api, functions);

    new CfnOutput(this, "BaseUrl", { value: baseUrl });
    for (const { node, tableName } of Object.values(tables))
      new CfnOutput(this, tableOutput(node.id), { value: tableName });
    for (const [name, { functionName }] of Object.entries(functions))
      new CfnOutput(this, functionOutput(name), { value: functionName });
    new CfnOutput(this, "PageTopicArn", { value: alarms.page.topicArn });
    new CfnOutput(this, "NoticeTopicArn", { value: alarms.notice.topicArn });
  }
}
