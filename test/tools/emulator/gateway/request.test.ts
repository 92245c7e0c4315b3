import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "@jest/globals";
import { readBody, readTarget } from "../../../../tools/emulator/gateway/request.ts";

it("refuses a body that is incomplete because the client disconnected", async () => {
  const message = new IncomingMessage(new Socket());
  message.push("{");
  message.destroy();
  await expect(readBody(message)).rejects.toThrow("DEFAULT_4XX");
});

const read = (url: string, host: string[] = ["a"]) =>
  readTarget({ url, method: "GET", headersDistinct: { host } } as unknown as IncomingMessage, "v1");

it.each([
  ["/v1/pets", "/pets", ""],
  ["/v1//pets?a=1?b", "/pets", "a=1%3Fb"],
  ["/v1/pets?a=1#b", "/pets", "a=1"],
  ["http://other:1/v1/pets", "/pets", ""],
  ["/v1", "", ""],
])("splits the target %s", (url, path, query) => {
  const request = read(url);
  expect({ ...request, query: String(request.query) }).toMatchObject({ path, query });
});

it.each([
  ...["/", "/v1x", "//v1/pets"].map((url) => [url, ["a"], "MISSING_AUTHENTICATION_TOKEN"] as const),
  ...[[], [""], ["a", "a"], ["a/b"], ["a b"]].map((hosts) => ["/v1", hosts, "DEFAULT_4XX"] as const),
])("refuses %s with the Host %j", (url, hosts, type) => expect(() => read(url, [...hosts])).toThrow(type));
