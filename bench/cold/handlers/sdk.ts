import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";

/** GetItem with the SDK's plain client, and nothing else. */
const client = new DynamoDBClient({});

export async function handler(event: { pathParameters: { petId: string } }) {
  const { Item } = await client.send(
    new GetItemCommand({
      TableName: process.env.PETS_TABLE,
      Key: { id: { N: event.pathParameters.petId } },
      ConsistentRead: true,
    }),
  );
  return { statusCode: 200, body: JSON.stringify(Item) };
}
