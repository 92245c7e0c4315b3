import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "@jest/globals";
import { confirm } from "../../../cli/confirm.ts";

function terminal(typed: string) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  input.end(typed);
  return { input, output: new PassThrough() };
}

it.each(["y\n", "yes\n", " Y \n", "YES\n"])("takes %j as a confirmation", async (typed) => {
  const { input, output } = terminal(typed);
  await confirm("Revoke key_1 in production?", { input, output });
  output.end();
  expect(await text(output)).toContain("Revoke key_1 in production? [y/N] ");
});

it.each(["\n", "n\n", "no\n", "yep\n", "ny\n", " \n", "", "\ny\n"])(
  "takes %j as a refusal",
  async (typed) => {
    await expect(confirm("Sure?", terminal(typed))).rejects.toThrow("Nothing was changed.");
  },
);

it("refuses if there is no terminal", async () => {
  const { input, output } = terminal("y\n");
  await expect(confirm("Sure?", { input: Object.assign(input, { isTTY: false }), output })).rejects.toThrow(
    "Sure? Add --yes to confirm it without a terminal.",
  );
});
