import { describe, expect, it } from "@jest/globals";
import { API_VERSION } from "../../lib/operation.ts";
import { getPet } from "../../lib/operations/get-pet.ts";
import { add, call } from "./client.ts";

const { since, sunset } = getPet.deprecation;
/** What a response has instead from the sunset on. */
const gone = Date.now() >= sunset.getTime() && { status: 410, body: { code: "gone" } };

describe("GET /pets/{petId}", () => {
  it("returns the new pet immediately", async () => {
    const pet = await add({ name: "Rex", categoryId: 9007199254740993n, status: "sold" });
    expect(await call(`/pets/${pet.id}`)).toMatchObject(gone || { status: 200, body: pet });
  });

  it("announces its end in the deprecation headers", async () => {
    const { headers } = await call("/pets/1");
    expect(Object.fromEntries(headers)).toMatchObject({
      deprecation: `@${since.getTime() / 1000}`,
      sunset: sunset.toUTCString(),
      link: expect.stringContaining(`/${API_VERSION}/pets>; rel="successor-version"`),
    });
  });

  it.each(["1", "-9223372036854775808", "9223372036854775808", "007", "1.0", "abc"])(
    "returns 404 for the id %s",
    async (id) => {
      expect(await call(`/pets/${id}`)).toMatchObject(gone || { status: 404, body: { code: "not_found" } });
    },
  );
});
