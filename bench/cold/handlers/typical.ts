import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";

/** getPet in the usual way: the document client, zod, one file. */
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const Parameters = z.object({ petId: z.coerce.number().int() });
const Pet = z.object({
  id: z.number(),
  name: z.string(),
  categoryId: z.number(),
  status: z.enum(["available", "pending", "sold"]),
});

export async function handler(event: { pathParameters: unknown }) {
  const parameters = Parameters.safeParse(event.pathParameters);
  if (!parameters.success) return { statusCode: 404, body: "{}" };
  const { Item } = await client.send(
    new GetCommand({
      TableName: process.env.PETS_TABLE,
      Key: { id: parameters.data.petId },
      ConsistentRead: true,
    }),
  );
  return Item ? { statusCode: 200, body: JSON.stringify(Pet.parse(Item)) } : { statusCode: 404, body: "{}" };
}
