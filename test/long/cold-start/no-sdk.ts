import { once } from "node:events";
import { request } from "node:https";

/** The minimum for any function that calls DynamoDB: one HTTPS request, without SDK, signature, retry or timeout. */
export async function handler(event: { pathParameters: { petId: string } }) {
  const call = request(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "", { method: "POST" });
  call.setHeader("Content-Type", "application/x-amz-json-1.0");
  call.setHeader("X-Amz-Target", "DynamoDB_20120810.GetItem");
  const Key = { id: { N: event.pathParameters.petId } };
  call.end(JSON.stringify({ TableName: process.env.PETS_TABLE, Key, ConsistentRead: true }));
  const [response] = await once(call, "response");
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { statusCode: 200, body: JSON.stringify(JSON.parse(text).Item) };
}
