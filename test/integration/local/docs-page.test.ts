import { afterAll, expect, it } from "@jest/globals";
import { disconnect, send } from "../../support/http.ts";

afterAll(disconnect);

const { origin } = new URL(process.env.CONTRACT_URL ?? "");

it("serves the docs page with the local key, and leaves every other path to the API", async () => {
  const page = await fetch(`${origin}/docs`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain(`data-key="${process.env.CONTRACT_KEY}"`);
  const document = (await (await fetch(`${origin}/docs/openapi.json`)).json()) as { servers: unknown };
  expect(document.servers).toEqual([{ url: process.env.CONTRACT_URL, description: "This service" }]);
  const other = await fetch(`${origin}/docs/package.json`);
  expect([other.status, await other.json()]).toMatchObject([404, { code: "not_found" }]);
  const twoHosts = await send(origin, { path: "/docs/", headers: [["Host", "localhost"]] });
  expect([twoHosts.status, JSON.parse(twoHosts.text)]).toMatchObject([400, { code: "invalid_request" }]);
});
