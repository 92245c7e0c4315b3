// One cold start in a process of its own. Arguments: the file to load, and the event of its handler as JSON.
// This file is CommonJS and loads no module before the measurement, so that only the bundle is measured.
const [, , file, event] = process.argv;
for (const level of ["info", "error"]) console[level] = () => undefined;

function now() {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1000 };
}

const between = (from, to) => ({ ms: to.ms - from.ms, cpuMs: to.cpuMs - from.cpuMs });

async function run() {
  const input = JSON.parse(event);
  const start = now();
  const { handler } = file.endsWith(".mjs") ? await import(file) : require(file);
  const loaded = now();
  const { statusCode, policyDocument } = await handler(input, { getRemainingTimeInMillis: () => 6000 });
  const responded = now();
  const allowed = policyDocument?.Statement[0].Effect === "Allow";

  const { statSync, writeSync } = require("node:fs");
  const files = Object.keys(require.cache).filter((name) => name !== __filename);
  const bytes = files.reduce((sum, name) => sum + statSync(name).size, 0);
  const result = {
    succeeded: allowed || statusCode < 300,
    bytes,
    load: between(start, loaded),
    first: between(loaded, responded),
  };
  writeSync(1, JSON.stringify(result));
  process.exit();
}

void run();
