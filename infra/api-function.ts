import { fileURLToPath } from "node:url";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

export interface ApiFunctionProps {
  /** the file's name in functions/, without its ending */
  entry: string;
  environment: Record<string, string>;
}

/** One Lambda function with a log group and a role of its own, which may do nothing but write that log. */
export class ApiFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, { entry, environment }: ApiFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);

    super(scope, id, {
      entry: fileURLToPath(new URL(`../functions/${entry}.ts`, import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      // The data client gives up after about 3.5 s (lib/dynamo/client.ts), the gateway after 29 s.
      timeout: Duration.seconds(6),
      environment,
      role,
      logGroup,
      // Lambda would set a variable for the SDK's HTTP agent that Node 24 no longer needs.
      awsSdkConnectionReuse: false,
      bundling: {
        format: OutputFormat.CJS,
        mainFields: ["module", "main"],
        minify: true,
        target: "node24",
        bundleAwsSDK: true,
      },
    });
  }

  /** Lets the function do one thing with one resource. */
  allow(action: string, resource: string): void {
    this.addToRolePolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
  }
}
