import { expect, it } from "@jest/globals";
import { createRouter } from "../../../../tools/emulator/gateway/router.ts";
import type { Route } from "../../../../tools/emulator/template/rest-api.ts";

const definition = (method: string, path: string): Route => ({
  method,
  path,
  requiresAuthorization: true,
  integration: { type: "AWS_PROXY", functionName: "f" },
});
const route = createRouter([
  definition("ANY", "/{proxy+}"),
  definition("GET", "/pets/{petId}"),
  definition("GET", "/pets/mine"),
  definition("ANY", "/pets"),
  definition("GET", "/pets"),
  definition("ANY", ""),
  definition("GET", "/a.b"),
]);

it.each([
  ["GET", "/pets", "GET /pets", {}],
  ["PUT", "/pets/", "ANY /pets", {}],
  ["GET", "/pets/mine", "GET /pets/mine", {}],
  ["GET", "/pets/%2F", "GET /pets/{petId}", { petId: "%2F" }],
  ["GET", "/pets/7/8", "ANY /{proxy+}", { proxy: "pets/7/8" }],
  ["GET", "/pets//7", "ANY /{proxy+}", { proxy: "pets//7" }],
  ["GET", "/acb", "ANY /{proxy+}", { proxy: "acb" }],
  ["GET", "/", "ANY ", {}],
  ["PUT", "/pets/7", "undefined undefined", undefined], // no less specific resource
])("routes %s %s to %s", (method, path, expected, pathParameters) => {
  const match = route(method, path);
  expect(`${match?.route.method} ${match?.route.path}`).toBe(expected);
  expect(match?.pathParameters).toEqual(pathParameters);
});
