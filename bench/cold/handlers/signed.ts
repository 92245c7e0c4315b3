import { createHash, createHmac } from "node:crypto";
import { Agent, request } from "node:https";

/**
 * GetItem with a signature made by hand (Signature Version 4) and no SDK: no retries, no time-outs, one
 * operation. It is the floor under everything that speaks to DynamoDB.
 */
const agent = new Agent({ keepAlive: true });
const endpoint = new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "");
const region = process.env.AWS_REGION ?? "";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

function sign(headers: Record<string, string>, body: string): string {
  const names = Object.keys(headers).sort();
  const time = headers["x-amz-date"] ?? "";
  const scope = `${time.slice(0, 8)}/${region}/dynamodb/aws4_request`;
  const canonical = [
    "POST",
    "/",
    "",
    ...names.map((name) => `${name}:${headers[name]}`),
    "",
    names.join(";"),
    sha256(body),
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const secret = `AWS4${process.env.AWS_SECRET_ACCESS_KEY}`;
  const key = scope.split("/").reduce<string | Buffer>(hmac, secret);
  const signature = hmac(key, toSign).toString("hex");
  return `AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
}

export async function handler(event: { pathParameters: { petId: string } }) {
  const body = JSON.stringify({
    TableName: process.env.PETS_TABLE,
    Key: { id: { N: event.pathParameters.petId } },
    ConsistentRead: true,
  });
  const headers: Record<string, string> = {
    host: endpoint.host,
    "content-type": "application/x-amz-json-1.0",
    "x-amz-date": new Date().toISOString().replace(/[-:]|\.\d+/g, ""),
    "x-amz-target": "DynamoDB_20120810.GetItem",
  };
  headers.authorization = sign(headers, body);
  const answer = await new Promise<string>((resolve, reject) => {
    const call = request(endpoint, { method: "POST", headers, agent }, (response) => {
      let text = "";
      response
        .setEncoding("utf8")
        .on("data", (chunk) => (text += chunk))
        .on("end", () => resolve(text));
    });
    call.on("error", reject).end(body);
  });
  return { statusCode: 200, body: JSON.stringify(JSON.parse(answer).Item) };
}
