import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { startService } from "../../support/local-service.ts";
import { testAuthorize, testInvalidValue, testPicture, testRequests } from "./page.ts";

const args = ["--no-sandbox", "--disable-gpu", "--disable-quic"];
const devices: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

/** Installs axe-core; returns its source. */
function installAxe(folder: string): string {
  const install = ["install", "axe-core@4.14.1", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", install, { cwd: folder, stdio: "inherit" });
  return readFileSync(join(folder, "node_modules/axe-core/axe.min.js"), "utf8");
}

/** Expects no serious or critical finding of axe-core, and no horizontal scrolling. */
async function checkLayout(axe: string, page: Page, state: string): Promise<void> {
  const run = `${axe}; axe.run({ resultTypes: ["violations"], preload: false })`;
  const { violations } = (await page.evaluate(run)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const found = grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  assert.deepEqual(found, [], `axe-core: ${state}`);
  const width = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
  assert.deepEqual(width, Array(2).fill(page.viewportSize()?.width), `no overflow: ${state}`);
}

/** Collects the errors that a page reports from now on. */
function failuresOf(page: Page): string[] {
  const failures: string[] = [];
  page.on("pageerror", ({ message }) => failures.push(message));
  page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
  return failures;
}

async function testDevice(page: Page, name: string, axe: string, origin: string, key: string) {
  const failures = failuresOf(page);
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      failures.push(`a request to ${request.url()}`);
  });
  await page.goto(`${origin}/docs`);
  await page.locator("#operations-pets-getPet").waitFor();
  await page.getByRole("link", { name: "openapi.json" }).waitFor();

  const background = "getComputedStyle(document.documentElement).backgroundColor";
  const isDark = (await page.evaluate(background)) === "rgb(28, 32, 34)";
  assert.equal(isDark, name.endsWith("dark"), "the page has the system's colors");
  const servers = await page.locator("#servers option").allTextContents();
  assert.deepEqual(servers, [`${origin}/v1 - This service`], "the page offers only its own server");
  const summary = ".opblock-summary-description";
  const deprecated = `getComputedStyle(document.querySelector("#operations-pets-getPet ${summary}"), "::after").content`;
  assert.equal(await page.evaluate(deprecated), '" (deprecated)"');

  await checkLayout(axe, page, `${name}, start`);
  await testRequests(page);
  await checkLayout(axe, page, `${name}, responses`);
  await testInvalidValue(page, () => checkLayout(axe, page, `${name}, invalid value`));
  await testAuthorize(page, key);
  await checkLayout(axe, page, `${name}, end`);
  assert.deepEqual(failures, [], "the page reports no error and loads nothing from elsewhere");
  console.log(`${name}: works, and axe-core finds nothing serious or critical`);
}

/**
 * Uses the docs page in a real browser, on a desktop and a phone, light and dark.
 *
 * @param options.browser path of Chromium
 * @param options.picture whether to take a new picture of it
 * @throws Error when it does not work
 */
export async function testDocsPage(options: { browser: string; picture: boolean }): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-docs-"));
  const axe = installAxe(folder.path);
  await using service = await startService({ DATA_DIR: join(folder.path, "data") });
  await using browser = await chromium.launch({ executablePath: options.browser, args });
  const { origin } = new URL(service.baseUrl);
  for (const [device, settings] of Object.entries(devices)) {
    for (const colorScheme of ["light", "dark"] as const) {
      await using page = await browser.newPage({ ...settings, colorScheme });
      await testDevice(page, `${device}, ${colorScheme}`, axe, origin, service.key);
    }
  }
  await using page = await browser.newPage(devices.desktop);
  await testPicture(page, origin, options.picture);
}
