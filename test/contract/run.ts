import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** `npm run test:contract -- --url <base URL> --key <API key>`: the contract suite against any deployment. */
const { url, key, help } = parseArgs({
  options: { url: { type: "string" }, key: { type: "string" }, help: { type: "boolean", short: "h" } },
}).values;

if (help || !url || !key) {
  console.error(
    "Usage: npm run test:contract -- --url <base URL, ending in /v1> --key <API key with both scopes>",
  );
  process.exit(help ? 0 : 2);
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
spawn(process.execPath, ["--experimental-vm-modules", jest, "--config", `${root}/jest.contract.config.js`], {
  cwd: root,
  env: { ...process.env, CONTRACT_URL: url.replace(/\/$/, ""), CONTRACT_KEY: key },
  stdio: "inherit",
}).on("close", (code) => process.exit(code ?? 1));
