import { expect, it } from "@jest/globals";
import { deletePetProgram } from "../../cli/delete-pet.ts";
import { petCreator, petFinder } from "../../lib/dynamo/pet-store.ts";
import { createOwnTables } from "../support/own-tables.ts";
import { runHere } from "../support/run-here.ts";

const { petsTable } = await createOwnTables();
const { create } = petCreator(petsTable);
const { find } = petFinder(petsTable);
const deletePet = (...args: string[]) =>
  runHere(deletePetProgram, "delete-pet", [petsTable, ...args], process.env as Record<string, string>);

it("deletes the pets with these ids and no other, and prints what they were", async () => {
  const pet = { name: "Rex \u202e", categoryId: 2n ** 63n - 1n, status: "sold" as const };
  const [first, second, other] = [await create(pet), await create(pet), await create(pet)];
  const line = ({ id }: { id: bigint }) =>
    `{"id":${id},"name":"Rex \\u202e","categoryId":9223372036854775807,"status":"sold"}: deleted.\n`;
  expect(await deletePet(String(first.id), String(second.id), "--yes")).toEqual({
    code: 0,
    stdout: line(first) + line(second),
    stderr: "",
  });
  expect(await Promise.all([first, second, other].map(({ id }) => find(id)))).toEqual([
    undefined,
    undefined,
    other,
  ]);
});

it("asks before it deletes a pet, and deletes none without a terminal", async () => {
  const pet = await create({ name: "Rex", categoryId: 1n, status: "sold" });
  const { code, stdout, stderr } = await deletePet(String(pet.id));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^delete-pet: Delete \{.*"name":"Rex".*\} from .+\? This cannot be undone\. Add --yes/,
  );
  expect(await find(pet.id)).toEqual(pet);
});

it("says that there is no such pet, also of one that was deleted", async () => {
  const { id } = await create({ name: "Rex", categoryId: 1n, status: "sold" });
  await deletePet(String(id), "--yes");
  for (const gone of [String(id), "7"])
    expect(await deletePet(gone, "--yes")).toEqual({
      code: 1,
      stdout: "",
      stderr: `delete-pet: ${petsTable} has no pet with the id ${gone}.\n`,
    });
  expect(await deletePet("Rex")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Use the id of a pet"),
  });
});
