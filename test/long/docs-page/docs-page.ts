import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { startService } from "../../support/local-service.ts";

/** An int64 that JavaScript's numbers do not hold. */
const INEXACT = "-9223372036854775807";
const PICTURE = join(import.meta.dirname, "../../../docs/docs-page.png");

/** Installs axe-core; returns its source. */
function installAxe(folder: string): string {
  const install = ["install", "axe-core@4.14.1", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", install, { cwd: folder, stdio: "inherit" });
  return readFileSync(join(folder, "node_modules/axe-core/axe.min.js"), "utf8");
}

/** Expects no serious or critical finding of axe-core. */
async function checkAccessibility(axe: string, page: Page, state: string): Promise<void> {
  const run = `${axe}; axe.run({ resultTypes: ["violations"], preload: false })`;
  const { violations } = (await page.evaluate(run)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const found = grave.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  assert.deepEqual(found, [], `axe-core: ${state}`);
}

/** Executes an operation; returns the response that the page shows. */
async function execute(page: Page, id: string, body?: string): Promise<string> {
  const operation = page.locator(`#operations-pets-${id}`);
  await operation.locator(".opblock-summary-control").click();
  if (body) await operation.locator("textarea").first().fill(body);
  await operation.getByRole("button", { name: "Execute" }).click();
  return (await operation.locator(".live-responses-table .response").textContent()) ?? "";
}

/**
 * Uses the docs page in a real browser.
 *
 * @param options.browser path of Chromium
 * @param options.picture whether to take a new picture of it
 * @throws Error when it does not work
 */
export async function testDocsPage(options: { browser: string; picture: boolean }): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-docs-"));
  const axe = installAxe(folder.path);
  await using service = await startService({ DATA_DIR: join(folder.path, "data") });
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic"];
  await using browser = await chromium.launch({ executablePath: options.browser, args });
  await using page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const { origin } = new URL(service.baseUrl);
  const failures: string[] = [];
  page.on("pageerror", ({ message }) => failures.push(message));
  page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      failures.push(`a request to ${request.url()}`);
  });
  await page.goto(`${origin}/docs`);
  await page.locator("#operations-pets-getPet").waitFor();
  await checkAccessibility(axe, page, "start");
  const added = await execute(page, "createPet", `{"name": "Rex", "categoryId": ${INEXACT}}`);
  const listed = await execute(page, "listPets");
  for (const response of [added, listed]) assert.ok(response.includes(INEXACT), "each digit is shown");
  await page.locator("#operations-pets-getPet .opblock-summary-control").click();
  await page.locator("#operations-pets-getPet .execute").waitFor();
  await checkAccessibility(axe, page, "responses");
  assert.deepEqual(failures, [], "the page reports no error and loads nothing from elsewhere");
  console.log("The docs page works, and axe-core finds nothing serious or critical.");
  if (!options.picture) return;
  await page.goto(`${origin}/docs`);
  await page.locator("#operations-pets-listPets .opblock-summary-control").dispatchEvent("click"); // without a focus
  await page.getByRole("button", { name: "Execute" }).waitFor();
  await page.screenshot({ path: PICTURE });
}
