import { createServer } from "node:http";
import { afterAll, expect, it, jest } from "@jest/globals";
import { createTables } from "../../../emulator/store/create-tables.ts";
import { listen } from "../../support/listen.ts";

let description: [status: number, body: object];
const clock = jest.spyOn(Date, "now");
const server = createServer(({ headers }, response) => {
  const describes = String(headers["x-amz-target"]).endsWith("DescribeTable");
  if (describes) clock.mockReturnValue(Date.now() + 60_001);
  const [status, body] = describes ? description : [200, {}];
  response.writeHead(status, { "Content-Type": "application/x-amz-json-1.0" }).end(JSON.stringify(body));
});
const { origin, close } = await listen(server);
afterAll(close);

const creating = { Table: { TableName: "Pets", TableStatus: "CREATING" } };
const denied = { __type: "AccessDeniedException", message: "No." };
it.each<[status: number, body: object, message: string]>([
  [400, denied, `The DynamoDB endpoint ${origin} cannot be used: No.`],
  [200, creating, `The table Pets at ${origin} is still CREATING after a minute.`],
])("fails when the description of a table is %i %j", async (status, body, message) => {
  description = [status, body];
  const keys = { KeySchema: [], AttributeDefinitions: [] };
  await expect(createTables({ endpoint: origin }, [{ TableName: "Pets", ...keys }])).rejects.toThrow(message);
});
