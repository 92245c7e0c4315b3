import { ListTablesCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, it } from "@jest/globals";
import { dynamoClient } from "../../../lib/dynamo/client.ts";
import { documentClient } from "../../../lib/dynamo/document-client.ts";
import { createOwnTables } from "../../support/own-tables.ts";

it("a fault before a request, or in a stored value, is an error of this service", async () => {
  const { PETS_TABLE: TableName } = await createOwnTables();
  const internal = { code: "internal_error" };
  const client = documentClient();
  const put = new PutCommand({ TableName, Item: { id: Number.NaN } });
  await expect(client.send(put)).rejects.toMatchObject(internal);
  const credentials = () => Promise.reject(new Error("no credentials"));
  await expect(dynamoClient({ credentials }).send(new ListTablesCommand())).rejects.toMatchObject(internal);
  const Item = { id: { N: "7" }, categoryId: { N: "1.5" } };
  await dynamoClient().send(new PutItemCommand({ TableName, Item }));
  const get = new GetCommand({ TableName, Key: { id: 7n } });
  await expect(client.send(get)).rejects.toMatchObject(internal);
});
