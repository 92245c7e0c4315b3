import { RemovalPolicy } from "aws-cdk-lib";
import type { Stage } from "./stages.ts";

/** What becomes of a resource that leaves its stack: with `retainData` it stays, unless the deployment that made it fails. */
export const removalPolicyOf = ({ retainData }: Stage): RemovalPolicy =>
  retainData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
