import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { buildDocs } from "../../../openapi/docs-page.ts";
import { startService } from "../../support/local-service.ts";
import { testAuthorize, testInvalidValue, testRequests } from "./page.ts";

/** `npm run test:docs`: uses the docs page in a real browser, on a desktop and a phone, light and dark. */

const usage = `Usage: npm run test:docs [-- --picture]

Uses the docs page in Chromium, and checks its accessibility with axe-core and Lighthouse. Both are installed from npm
into a temporary folder. CHROMIUM is the path of the browser (default: /usr/bin/chromium, Debian's package).

  --picture  write a new docs/docs-page.png`;

const { help, picture } = parseArgs({
  options: { help: { type: "boolean", short: "h" }, picture: { type: "boolean" } },
}).values;
if (help) {
  console.log(usage);
  process.exit();
}

const PORT = 9333;
const args =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const desktop = { viewport: { width: 1280, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const devices: Record<string, BrowserContextOptions> = {
  "desktop, light": { ...desktop, colorScheme: "light" },
  "desktop, dark": { ...desktop, colorScheme: "dark" },
  "phone, light": { ...phone, colorScheme: "light" },
  "phone, dark": { ...phone, colorScheme: "dark" },
};

const folder = mkdtempSync(join(tmpdir(), "animal-store-docs-"));
const require = createRequire(join(folder, "package.json"));
cpSync(fileURLToPath(new URL("tools/package.json", import.meta.url)), join(folder, "package.json"));
execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: folder, stdio: "inherit" });
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Expects no serious or critical finding of axe-core, and no horizontal scrolling. */
async function checkLayout(page: Page, state: string): Promise<void> {
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

async function testDevice(name: string, origin: string, key: string): Promise<void> {
  const context = await browser.newContext(devices[name]);
  const page = await context.newPage();
  const failures: string[] = [];
  page.on("pageerror", ({ message }) => failures.push(message));
  page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      failures.push(`a request to ${request.url()}`);
  });
  await page.goto(`${origin}/docs`);
  await page.locator("#operations-pets-getPet").waitFor();

  const background = "getComputedStyle(document.body).backgroundColor";
  const isDark = (await page.evaluate(background)) === "rgb(28, 32, 34)";
  assert.equal(isDark, name.endsWith("dark"), "the page has the system's colors");
  const servers = await page.locator("#servers option").allTextContents();
  assert.deepEqual(servers, [`${origin}/v1 - This service`], "the page offers only its own server");
  const summary = ".opblock-summary-description";
  const deprecated = `getComputedStyle(document.querySelector("#operations-pets-getPet ${summary}"), "::after").content`;
  assert.equal(await page.evaluate(deprecated), '" (deprecated)"');

  await checkLayout(page, `${name}, start`);
  await testRequests(page);
  await checkLayout(page, `${name}, responses`);
  await testInvalidValue(page);
  await testAuthorize(page, key);
  await checkLayout(page, `${name}, end`);
  assert.deepEqual(failures, [], "the page reports no error and loads nothing from elsewhere");
  if (picture && name === "desktop, light") await takePicture(page, key);
  await context.close();
  console.log(`${name}: works, and axe-core finds nothing serious or critical`);
}

/** The commands that the page shows have the key in them, which a picture must not show. */
async function takePicture(page: Page, key: string): Promise<void> {
  await page.evaluate(`document.querySelectorAll(".curl-command").forEach((element) => element.remove())`);
  assert.ok(!(await page.locator("body").textContent())?.includes(key), "the picture shows no key");
  await page.setViewportSize({ width: 1280, height: 1200 });
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: fileURLToPath(new URL("../../../docs/docs-page.png", import.meta.url)) });
  console.log("Wrote docs/docs-page.png.");
}

async function testLighthouse(url: string): Promise<void> {
  const { default: lighthouse } = await import(pathToFileURL(require.resolve("lighthouse")).href);
  const { lhr } = await lighthouse(url, { port: PORT, onlyCategories: ["accessibility"], logLevel: "error" });
  const { score } = lhr.categories.accessibility;
  assert.ok(score >= 0.95, `Lighthouse accessibility is ${score}`);
  console.log(`Lighthouse accessibility: ${score}`);
}

/** The static site opens from the disk. It shows every operation, and offers neither servers nor requests. */
async function testStaticSite(): Promise<void> {
  const site = join(folder, "site");
  await buildDocs(site);
  const page = await browser.newPage(desktop);
  const failures: string[] = [];
  page.on("pageerror", ({ message }) => failures.push(message));
  page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
  await page.goto(pathToFileURL(join(site, "index.html")).href);
  for (const id of ["listPets", "createPet", "getPet"])
    await page.locator(`#operations-pets-${id}`).waitFor();
  await page.getByText("Available values : available, pending, sold").waitFor();
  assert.equal(await page.locator("#servers").count(), 0);
  assert.equal(await page.getByRole("button", { name: /Execute|Try it out|Authorize/ }).count(), 0);
  await checkLayout(page, "static site");
  assert.deepEqual(failures, [], "the static site reports no error");
  await page.close();
  console.log("static site: opens from the disk");
}

const service = await startService({ DATA_DIR: join(folder, "data") });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  headless: true,
  args: [...args.split(" "), `--remote-debugging-port=${PORT}`],
});
try {
  const { origin } = new URL(service.baseUrl);
  for (const name of Object.keys(devices)) await testDevice(name, origin, service.key);
  await testLighthouse(`${origin}/docs/`);
  await testStaticSite();
} finally {
  await browser.close();
  await service.stop();
  rmSync(folder, { recursive: true });
}
