// One cold start, in a process of its own. Arguments: the file to load, the event of its handler as JSON, and
// perhaps a folder for V8's compile cache. It is CommonJS, and loads nothing, so as to measure nothing else.
const [, , file, event, cache] = process.argv;
for (const level of ["info", "error"]) console[level] = () => undefined;

if (cache) require("node:module").enableCompileCache(cache);

const times = [];
function mark() {
  const { user, system } = process.cpuUsage();
  times.push({ wall: performance.now(), cpu: (user + system) / 1000 });
}

async function run() {
  const given = JSON.parse(event);
  const context = { getRemainingTimeInMillis: () => 6000 };
  mark();
  const { handler } = file.endsWith(".mjs") ? await import(file) : require(file);
  mark();
  const { statusCode = 200 } = await handler(given, context);
  mark();
  await handler(given, context);
  mark();

  const files = Object.keys(require.cache).filter((name) => name !== __filename);
  const { statSync, writeSync } = require("node:fs");
  const bytes = files.reduce((sum, name) => sum + statSync(name).size, 0);
  writeSync(1, JSON.stringify({ times, statusCode, files: files.length, bytes }));
  process.exit();
}

run();
