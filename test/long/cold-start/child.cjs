// One cold start in a process of its own. Arguments: the file to load, and the event of its handler as JSON.
// This file is CommonJS and loads no module before the measurement, so that only the bundle is measured.
const [, , file, event] = process.argv;

function now() {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
}

async function run() {
  const input = JSON.parse(event);
  const start = now();
  const { handler } = file.endsWith(".mjs") ? await import(file) : require(file);
  const loaded = now();
  const result = await handler(input, { getRemainingTimeInMillis: () => 6000 });
  const responded = now();

  if (!(result.policyDocument?.Statement[0].Effect === "Allow" || result.statusCode < 300))
    throw new Error(`This is no success: ${JSON.stringify(result)}`);
  const { statSync } = require("node:fs");
  const files = Object.keys(require.cache).filter((name) => name !== __filename);
  // The columns of the table.
  const measured = {
    KiB: files.reduce((sum, name) => sum + statSync(name).size, 0) / 1024,
    "import, wall": loaded.wall - start.wall, // with `lambda-entry.mjs` it includes the warm-up
    "import, CPU": loaded.cpu - start.cpu,
    "request, wall": responded.wall - loaded.wall,
    "request, CPU": responded.cpu - loaded.cpu,
    "total, wall": responded.wall - start.wall,
  };
  console.log(JSON.stringify(measured));
  process.exit(); // although a connection is open
}

void run();
