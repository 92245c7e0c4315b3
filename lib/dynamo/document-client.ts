import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { dynamoClient } from "./client.ts";

/** Makes a client of dynamoClient for items as JavaScript values, with exact numbers: every number is a bigint. */
export const documentClient = (config?: DynamoDBClientConfig) =>
  DynamoDBDocumentClient.from(dynamoClient(config), { unmarshallOptions: { wrapNumbers: BigInt } });
