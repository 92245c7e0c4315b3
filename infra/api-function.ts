import { fileURLToPath } from "node:url";
import { Duration } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type IFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Construct } from "constructs";
import { acknowledge } from "./acknowledge.ts";
import { bundling } from "./bundle/options.ts";
import { StageLog } from "./stage-log.ts";

export interface ApiFunctionProps {
  /** the file's name in functions/, without its ending */
  entry: string;
  environment: Record<string, string>;
  /** instances that it has to itself and may not exceed */
  reservedConcurrency: number | undefined;
}

/** One Lambda function with a log and a role of its own, which may do nothing but write that log and traces. */
export class ApiFunction extends NodejsFunction {
  #live: Alias | undefined;

  constructor(scope: Construct, id: string, { entry, environment, reservedConcurrency }: ApiFunctionProps) {
    const logGroup = new StageLog(scope, `${id}Logs`);
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
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      // Lambda's own lines on every start and end would cost more than they tell; the access log has them.
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: Tracing.ACTIVE,
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
      // Lambda would set a variable for the SDK's HTTP agent that Node 24 no longer needs.
      awsSdkConnectionReuse: false,
      bundling,
      handler: "start.handler", // infra/bundle/start.mjs
    });
    acknowledge(
      role,
      "IAM5[Resource::*]",
      "X-Ray has no resources: sending traces can only be allowed for all.",
    );
  }

  /** What callers invoke: the alias where there is one, else the newest code. */
  get live(): IFunction {
    return this.#live ?? this;
  }

  /** Puts the function behind an alias, to which new code can be shifted bit by bit. */
  addLiveAlias(): Alias {
    this.#live = new Alias(this, "Live", { aliasName: "live", version: this.currentVersion });
    return this.#live;
  }

  /** Lets the function do one thing with one resource. */
  allow(action: string, resource: string): void {
    this.addToRolePolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
  }
}
