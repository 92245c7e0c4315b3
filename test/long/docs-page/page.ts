import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Locator, Page } from "playwright-core";

/** The digits that JavaScript's numbers cannot hold. */
const SMALLEST = "-9223372036854775807";

const operation = (page: Page, id: string): Locator => page.locator(`#operations-pets-${id}`);

/** Opens an operation, fills it in, executes it and returns the response that the page shows. */
async function execute(page: Page, id: string, fill: (target: Locator) => Promise<void>) {
  const target = operation(page, id);
  await fill(target);
  await target.getByRole("button", { name: "Execute" }).click();
  const response = target.locator(".live-responses-table .response");
  const status = await response.locator(".response-col_status").textContent();
  return { status: status?.trim() ?? "", text: (await response.textContent()) ?? "" };
}

/** Adds and lists an animal. What is typed, sent, shown and downloaded has the same digits. */
export async function testRequests(page: Page): Promise<void> {
  for (const id of ["createPet", "listPets", "getPet"]) {
    await operation(page, id).locator(".opblock-summary-control").click();
  }
  const body = `{"name": "Rex", "categoryId": ${SMALLEST}, "status": "pending"}`;
  const added = await execute(page, "createPet", (target) => target.locator("textarea").first().fill(body));
  assert.match(added.status, /^201/);
  assert.ok(added.text.includes(SMALLEST), "the response shows every digit");
  const curl = await operation(page, "createPet").locator(".curl-command").textContent();
  assert.ok(curl?.includes(SMALLEST), "the curl command has every digit");

  const listed = await execute(page, "listPets", async (target) => {
    await target.locator("tr[data-param-name=status] select").selectOption("pending");
  });
  assert.match(listed.status, /^200/);
  assert.ok(listed.text.includes(SMALLEST), "the list shows every digit");
  const downloading = page.waitForEvent("download");
  await operation(page, "listPets").locator(".download-contents").click();
  const chunks = await (await (await downloading).createReadStream()).toArray();
  assert.ok(Buffer.concat(chunks).toString().includes(SMALLEST), "the download has every digit");
}

/** An invalid parameter and an empty body are not sent, and the response of the last request disappears. */
export async function testInvalidValue(page: Page, checkLayout: () => Promise<void>): Promise<void> {
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url()));
  const invalid = { listPets: ["tr[data-param-name=limit] input", "1000"], createPet: ["textarea", ""] };
  for (const [id, [field = "", value = ""]] of Object.entries(invalid)) {
    const target = operation(page, id);
    await target.locator(field).first().fill(value);
    await target.getByRole("button", { name: "Execute" }).click();
    await target.getByRole("alert").getByText("Nothing was sent: correct the marked values.").waitFor();
    await checkLayout();
    assert.equal(await target.locator(".live-responses-table").count(), 0, "no old response is shown");
  }
  await page.getByText("For 'limit': Value must be less than or equal to 100.").waitFor();
  assert.deepEqual(sent, [], "nothing was sent");

  const corrected = await execute(page, "listPets", (form) =>
    form.locator("tr[data-param-name=limit] input").fill("1"),
  );
  assert.match(corrected.status, /^200/);
}

/** The authorize dialog refuses what is not a key, and takes a key that is pasted with its scheme. */
export async function testAuthorize(page: Page, key: string): Promise<void> {
  const dialog = page.locator(".modal-ux");
  await page.getByRole("button", { name: "Authorize" }).first().click();
  await dialog.getByRole("button", { name: "Logout" }).click();
  await dialog.locator("input").fill(`${key}x`);
  await dialog.getByRole("button", { name: "Authorize" }).click();
  await dialog.getByText("This is not an API key.").waitFor();
  await dialog.locator("input").fill(` Bearer ${key}\n`);
  await dialog.getByRole("button", { name: "Authorize" }).click();
  await dialog.getByRole("button", { name: "Logout" }).waitFor();
  await dialog.locator("button.close-modal").click();
  const { status } = await execute(page, "listPets", async () => {});
  assert.match(status, /^200/, "the pasted key works");
}

const PICTURE = join(import.meta.dirname, "../../../docs/docs-page.png");
/** Starts the text of the picture, the chunk in front of the last one (iTXt in the PNG specification, 11.3.3.4). */
const DESCRIPTION = "iTXtDescription\0\0\0\0\0";

/** The text of the page is that of its picture in docs/, without what differs between services and releases. */
export async function testPicture(page: Page, origin: string, renew: boolean): Promise<void> {
  await page.goto(`${origin}/docs`);
  await operation(page, "listPets").locator(".opblock-summary-control").dispatchEvent("click"); // without a focus
  await page.getByRole("button", { name: "Execute" }).waitFor();
  await page.evaluate(
    `document.querySelector("#servers option").text = "http://127.0.0.1:3000/v1 - This service"`,
  );
  const others = ".title small:not(.version-stamp), .responses-wrapper, .models";
  await page.evaluate(`document.querySelectorAll("${others}").forEach((element) => element.remove())`);
  const text = (await page.evaluate("document.body.innerText")) as string;
  if (renew) {
    const png = await page.screenshot({ fullPage: true });
    const chunk = Buffer.from(`....${DESCRIPTION}${text}....`); // a length and a checksum around them
    chunk.writeUInt32BE(chunk.length - 12);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
    await writeFile(PICTURE, Buffer.concat([png.subarray(0, -12), chunk, png.subarray(-12)]));
  }
  const [, pictured = ""] = (await readFile(PICTURE)).subarray(0, -16).toString().split(DESCRIPTION);
  const lines = (of: string) => ({ "docs/docs-page.png (--picture renews it)": of.split("\n") });
  assert.deepEqual(lines(pictured), lines(text));
}
