import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { send } from "../../support/http.ts";
import { runNode } from "../../support/run-node.ts";
import { shared } from "../../support/shared.ts";

const script = fileURLToPath(new URL("../../../tools/cli/delete-pet.ts", import.meta.url));
const deletePet = (id: string) =>
  runNode([script, "--stage", "local", id], { env: { ...process.env, DATA_DIR: shared.dataFolder } });

const call = (method: string, path: string, body?: string) =>
  send(shared.baseUrl, { method, path, key: shared.key, ...(body && { body }) });

it("deletes the pet with this id and no other, and prints what it was", async () => {
  const pet = '"name":"Rex","categoryId":9223372036854775807,"status":"sold"';
  const add = async () => /"id":(\d+)/.exec((await call("POST", "/pets", `{${pet}}`)).text)?.[1] ?? "";
  const [id, other] = [await add(), await add()];
  expect(await deletePet(id)).toEqual({ code: 0, stdout: `{"id":${id},${pet}}: deleted.\n`, stderr: "" });
  const statuses = [await call("GET", `/pets/${id}`), await call("GET", `/pets/${other}`)];
  expect(statuses.map(({ status }) => status)).toEqual([404, 200]);
  const stderr = `delete-pet: No pet in local has the id ${id}.\n`;
  expect(await deletePet(id)).toEqual({ code: 1, stdout: "", stderr });
  const usage = expect.stringContaining("Use the id of a pet");
  expect(await deletePet("Rex")).toMatchObject({ code: 2, stderr: usage });
});
