import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { dynamoClient } from "./client.ts";

/** Makes a client for items as JavaScript values, with exact numbers: it returns each as a bigint. Errors: dynamoClient. */
export const documentClient = () =>
  DynamoDBDocumentClient.from(dynamoClient(), { unmarshallOptions: { wrapNumbers: BigInt } });
