// One cold start in a process of its own. Arguments: the file to load, and the event of its handler as JSON.
// This file is CommonJS and loads no module before the measurement, so that only the bundle is measured.
const [, , file, event] = process.argv;
for (const level of ["info", "error"]) console[level] = () => undefined;

function now() {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
}

async function run() {
  const input = JSON.parse(event);
  const start = now();
  const { handler } = file.endsWith(".mjs") ? await import(file) : require(file);
  const loaded = now();
  const { statusCode, policyDocument } = await handler(input, { getRemainingTimeInMillis: () => 6000 });
  const responded = now();

  const { statSync, writeSync } = require("node:fs");
  const files = Object.keys(require.cache).filter((name) => name !== __filename);
  const succeeded = policyDocument?.Statement[0].Effect === "Allow" || statusCode < 300;
  // The columns of the table.
  const measured = {
    KiB: files.reduce((sum, name) => sum + statSync(name).size, 0) / 1024,
    "import, wall": loaded.wall - start.wall, // with `lambda-entry.mjs` it includes the warm-up
    "import, CPU": loaded.cpu - start.cpu,
    "request, wall": responded.wall - loaded.wall,
    "request, CPU": responded.cpu - loaded.cpu,
    "total, wall": responded.wall - start.wall,
  };
  writeSync(1, JSON.stringify({ succeeded, measured }));
  process.exit();
}

void run();
