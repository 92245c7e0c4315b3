import { describe, expect, it } from "@jest/globals";
import { API_VERSION } from "../../lib/operation.ts";
import { getPet } from "../../lib/operations/get-pet.ts";
import { add, call } from "./client.ts";

describe("GET /pets/{petId}", () => {
  it("returns the new pet immediately, with the deprecation headers", async () => {
    const pet = await add({ name: "Rex", categoryId: 9007199254740993n, status: "sold" });
    const { status, headers, body } = await call(`/pets/${pet.id}`);
    expect([status, body]).toEqual([200, pet]);
    expect(headers.get("deprecation")).toBe(`@${getPet.deprecation.since.getTime() / 1000}`);
    expect(headers.get("sunset")).toBe(getPet.deprecation.sunset.toUTCString());
    expect(headers.get("link")).toContain(`/${API_VERSION}/pets>; rel="successor-version"`);
  });

  it.each(["1", "-9223372036854775808", "9223372036854775808", "007", "1.0", "abc"])(
    "returns 404 for the id %s",
    async (id) => {
      expect(await call(`/pets/${id}`)).toMatchObject({ status: 404, body: { code: "not_found" } });
    },
  );
});
