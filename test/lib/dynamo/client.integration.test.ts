import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, it } from "@jest/globals";
import { dynamoClient } from "../../../lib/dynamo/client.ts";
import { documentClient } from "../../../lib/dynamo/document-client.ts";

it("a fault before a request is an error of this service, and not of DynamoDB", async () => {
  const internal = { code: "internal_error" };
  const Item = { id: Number.NaN };
  await expect(documentClient().send(new PutCommand({ TableName: "pets", Item }))).rejects.toMatchObject(
    internal,
  );
  const credentials = () => Promise.reject(new Error("no credentials"));
  await expect(dynamoClient({ credentials }).send(new ListTablesCommand())).rejects.toMatchObject(internal);
});
