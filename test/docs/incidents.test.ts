import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { deletion } from "../support/trial-operations.ts";

const incidents = readFileSync(new URL("../../docs/incidents.md", import.meta.url), "utf8");

it("deletes a pet by hand with the update that a deletion of the service sends", () => {
  const [, command = ""] = /^\*\*Delete a pet by hand\*\*.*?^```sh\n(.*?)^```/ms.exec(incidents) ?? [];
  const option = (name: string) => new RegExp(`--${name} '([^']*)'`).exec(command)?.[1] ?? "";
  const { ":deletionId": deletionId } = JSON.parse(option("expression-attribute-values"));
  expect({
    UpdateExpression: option("update-expression"),
    ConditionExpression: option("condition-expression"),
    ExpressionAttributeNames: JSON.parse(option("expression-attribute-names")),
    ExpressionAttributeValues: { ":deletionId": deletionId.S },
  }).toEqual(deletion("by hand"));
});
