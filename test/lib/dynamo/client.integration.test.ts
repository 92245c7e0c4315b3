import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, it } from "@jest/globals";
import { dynamoClient } from "../../../lib/dynamo/client.ts";

it("all attempts end within the three seconds that test/infra/every-limit-is-set.integration.test.ts leaves for them", async () => {
  const client = dynamoClient();
  await client.send(new ListTablesCommand()); // resolves the settings
  const attempts = await client.config.maxAttempts();
  const handler = client.config.requestHandler as unknown as { httpHandlerConfigs(): Record<string, number> };
  const { connectionTimeout, requestTimeout, socketTimeout } = handler.httpHandlerConfigs();
  for (const timeout of [connectionTimeout, requestTimeout, socketTimeout])
    expect(attempts * Number(timeout)).toBeLessThanOrEqual(3000);
});

it("an error before a request is sent is reported like a lost connection", async () => {
  const client = dynamoClient();
  client.middlewareStack.add(() => () => Promise.reject(new Error("no credentials")), { step: "build" });
  await expect(client.send(new ListTablesCommand())).rejects.toMatchObject({ code: "unavailable" });
});
