import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { readStack } from "../../emulator/template/template.ts";
import { servedStackName } from "../../infra/stages.ts";
import { API_VERSION } from "../../lib/operation.ts";
import { shared } from "../support/shared.ts";

/** Reads the template of staging, without the code of its functions, and with another resource. */
async function read(Type: string) {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-template-"));
  const file = `${servedStackName}.template.json`;
  const template = JSON.parse(await readFile(join(shared.assembly, file), "utf8"));
  template.Resources.Added = { Type };
  await writeFile(join(folder.path, file), JSON.stringify(template));
  return readStack(folder.path, servedStackName);
}

it.each([
  "AWS::ApiGateway::DomainNameV2",
  "AWS::ApiGateway::RequestValidator",
  "AWS::ApiGatewayV2::Api",
  "AWS::DynamoDB::GlobalTable",
  "AWS::Lambda::EventSourceMapping",
])("refuses a resource of the type %s, which it does not imitate, in one line", async (type) => {
  const message = `The resource Added of the template cannot be served: ${type} is not supported.`;
  await expect(read(type)).rejects.toThrow(message);
});

it("ignores other services", async () => {
  expect(await read("AWS::Events::Rule")).toMatchObject({ apiStageName: API_VERSION });
});
