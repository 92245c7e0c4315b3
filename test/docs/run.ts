import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { startService } from "../support/local-service.ts";

/**
 * `npm run test:docs`: uses the docs page in a real browser as a person would, and takes its picture.
 * CHROMIUM names the browser; without it, it is Debian's (`apt-get install chromium`).
 */
const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const picture = fileURLToPath(new URL("../../docs/docs-page.png", import.meta.url));
const args =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** Runs an operation through the page and returns the status and text of the response that it shows. */
async function run(page: Page, id: string, fill: (operation: ReturnType<Page["locator"]>) => Promise<void>) {
  const operation = page.locator(`#operations-pets-${id}`);
  await operation.locator(".opblock-summary-control").click();
  await fill(operation);
  await operation.getByRole("button", { name: "Execute" }).click();
  const live = operation.locator(".live-responses-table .response");
  const status = await live.locator(".response-col_status").textContent();
  const text = await live.locator(".response-col_description").textContent();
  return { status: status?.trim() ?? "", text: text ?? "" };
}

const folder = await mkdtemp(join(tmpdir(), "animal-store-docs-"));
const service = await startService({ DATA_DIR: folder });
const browser = await chromium.launch({ executablePath, headless: true, args: args.split(" ") });
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 1700 } });
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  const { origin } = new URL(service.baseUrl);
  const elsewhere: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin))
      elsewhere.push(request.url());
  });

  await page.goto(`${origin}/docs`);
  const name = "Rex";
  const added = await run(page, "createPet", (operation) =>
    operation
      .locator("textarea")
      .first()
      .fill(JSON.stringify({ name, categoryId: 1, status: "pending" })),
  );
  assert.match(added.status, /^201/);
  assert.ok(added.text.includes(name), "createPet shows the animal");
  await page.locator("#operations-pets-createPet .opblock-summary-control").click();

  const listed = await run(page, "listPets", async (operation) => {
    await operation.locator("tr[data-param-name=status] select").selectOption("pending");
  });
  assert.match(listed.status, /^200/);
  assert.ok(listed.text.includes(name), "listPets shows the animal");
  assert.deepEqual(faults, [], "the page reports no error");
  assert.deepEqual(elsewhere, [], "the page loads nothing from elsewhere");

  // The command that the page shows has the key in it, which must not be in a picture.
  await page.evaluate(`document.querySelectorAll(".curl-command").forEach((each) => each.remove())`);
  const shown = await page.locator("body").textContent();
  assert.ok(!shown?.includes(service.key), "the picture shows no key");
  await page.screenshot({ path: picture });
  console.log(
    "The page works in a browser: an animal was added and listed. Its picture is docs/docs-page.png.",
  );
} finally {
  await browser.close();
  await service.stop();
  await rm(folder, { recursive: true });
}
