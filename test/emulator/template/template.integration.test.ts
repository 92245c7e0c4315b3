import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { evaluate } from "../../../emulator/template/intrinsics.ts";
import { readStack } from "../../../emulator/template/template.ts";
import { servedStackName } from "../../../infra/stages.ts";
import { API_VERSION } from "../../../lib/operation.ts";
import { shared } from "../../support/shared.ts";

/** Reads the template of staging, without the code of its functions, and with another resource. */
async function read(Type: string) {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-template-"));
  const file = `${servedStackName}.template.json`;
  const template = JSON.parse(await readFile(join(shared.assembly, file), "utf8"));
  template.Resources.Added = { Type };
  await writeFile(join(folder.path, file), JSON.stringify(template));
  return readStack(folder.path, servedStackName);
}

it.each(["AWS::ApiGateway::DomainNameV2", "AWS::ApiGatewayV2::Api", "AWS::Lambda::EventSourceMapping"])(
  "refuses a resource of the type %s, which it does not imitate, in one line",
  async (type) => {
    const message = `The resource Added of the template cannot be served: ${type} is not supported.`;
    await expect(read(type)).rejects.toThrow(message);
  },
);

it("ignores other services, and refuses an intrinsic function that it does not know, at any depth", async () => {
  expect(await read("AWS::Events::Rule")).toMatchObject({ apiStageName: API_VERSION });
  const value = [{ "Fn::Join": ["-", [{ "Fn::If": ["a", "b", "c"] }]] }];
  expect(() => evaluate(value)).toThrow("The template has Fn::If, which is not supported.");
});
