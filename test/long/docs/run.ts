import { Command } from "commander";

const description = `Uses the docs page in Chromium, on a desktop and a phone, light and dark, and checks its accessibility with axe-core and Lighthouse, which it installs from npm into a temporary folder. CHROMIUM is the path of the browser (default: /usr/bin/chromium, Debian's package).`;

export const command = new Command("docs")
  .summary("uses the docs page in Chromium, and checks its accessibility (needs Chromium and npm)")
  .description(description)
  .option("--picture", "write a new docs/docs-page.png", false)
  .action(async (options: { picture: boolean }) => (await import("./docs-page.ts")).testDocsPage(options));
