import { Socket } from "node:net";
import { ATTEMPT_MS, WARM_UP_MS } from "../../lib/time-limits.ts";

// What Jest or a test has started ends with it, also when an editor stops it. A listener would keep the process alive.
setInterval(() => process.connected === false && process.exit(), 500).unref();

// On a busy machine, the embedded store can need longer than a function waits for its table. With this preload, it waits.
for (const [owner, name, index, usualMs, ms] of [
  [globalThis, "setTimeout", 1, ATTEMPT_MS, 2.5 * ATTEMPT_MS],
  [Socket.prototype, "setTimeout", 0, ATTEMPT_MS, 2.5 * ATTEMPT_MS],
  [AbortSignal, "timeout", 0, WARM_UP_MS, 100 * WARM_UP_MS],
])
  owner[name] = new Proxy(owner[name], {
    apply: (wait, self, args) =>
      Reflect.apply(wait, self, args[index] === usualMs ? args.with(index, ms) : args),
  });
