import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { petCreator, petFinder } from "../../lib/dynamo/pet-store.ts";
import { runNode } from "../support/keys-cli.ts";
import { createOwnTables } from "../support/own-tables.ts";

const { petsTable } = await createOwnTables();
const script = fileURLToPath(new URL("../../cli/delete-pet.ts", import.meta.url));
const deletePet = (id: string) => runNode([script, petsTable, id], { env: process.env });

it("deletes the pet with this id and no other, and prints what it was", async () => {
  const { create } = petCreator(petsTable);
  const { find } = petFinder(petsTable);
  const pet = { name: "Rex", categoryId: 2n ** 63n - 1n, status: "sold" as const };
  const [{ id }, other] = [await create(pet), await create(pet)];
  const stdout = `{"id":${id},"name":"Rex","categoryId":9223372036854775807,"status":"sold"}: deleted.\n`;
  expect(await deletePet(`${id}`)).toEqual({ code: 0, stdout, stderr: "" });
  expect([await find(id), await find(other.id)]).toEqual([undefined, other]);
  const stderr = `delete-pet: ${petsTable} has no pet with the id ${id}.\n`;
  expect(await deletePet(`${id}`)).toEqual({ code: 1, stdout: "", stderr });
  expect(await deletePet("Rex")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Use the id of a pet"),
  });
});
