import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { deletion } from "../support/deletion.ts";

it("docs/incidents.md deletes a pet with the update that a deletion of the service sends", () => {
  const text = readFileSync(new URL("../../docs/incidents.md", import.meta.url), "utf8");
  const [command = ""] = /aws dynamodb update-item .*(\n +--.*)+/.exec(text) ?? [];
  const option = (name: string) => new RegExp(`--${name} '([^']*)'`).exec(command)?.[1] ?? "";
  const { ":deletionId": deletionId } = JSON.parse(option("expression-attribute-values"));
  expect({
    UpdateExpression: option("update-expression"),
    ConditionExpression: option("condition-expression"),
    ExpressionAttributeNames: JSON.parse(option("expression-attribute-names")),
    ExpressionAttributeValues: { ":deletionId": deletionId.S },
  }).toEqual(deletion(deletionId.S));
});
