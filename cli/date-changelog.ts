import { readFileSync, writeFileSync } from "node:fs";

/** Part of the npm script `version`, which `npm version` runs: dates the section "Unreleased" as the new version. */

const date = new Date().toISOString().slice(0, 10);
const heading = `## ${process.env.npm_new_version} - ${date}`;
const changelog = readFileSync("CHANGELOG.md", "utf8");
writeFileSync("CHANGELOG.md", changelog.replace(/^## Unreleased$/m, `$&\n\n${heading}`));
