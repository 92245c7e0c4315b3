import { expect, it } from "@jest/globals";
import { createRouter } from "../../../emulator/gateway/router.ts";
import type { Route } from "../../../emulator/template/rest-api.ts";

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
  ["PUT", "/pets", "ANY /pets", {}],
  ["GET", "/pets/mine", "GET /pets/mine", {}],
  ["GET", "/pets/7", "GET /pets/{petId}", { petId: "7" }],
  ["GET", "/pets/7/8", "ANY /{proxy+}", { proxy: "pets/7/8" }],
  ["GET", "/pets//7", "ANY /{proxy+}", { proxy: "pets//7" }],
  ["GET", "/acb", "ANY /{proxy+}", { proxy: "acb" }],
  ["GET", "/", "ANY ", {}],
  ["GET", "/pets/", "GET /pets", {}],
])("routes %s %s to %s", (method, path, expected, pathParameters) => {
  const match = route(method, path);
  expect(`${match?.route.method} ${match?.route.path}`).toBe(expected);
  expect(match?.pathParameters).toEqual(pathParameters);
});

it("takes no less specific resource for a method that a resource does not have", () => {
  expect(route("PUT", "/pets/7")).toBeUndefined();
});
