import { Socket } from "node:net";

// A function waits a second for its table (lib/dynamo/client.ts), and 300 ms when it starts (lib/warm-up.ts). On a busy
// machine, the embedded store can need longer. With this preload, the functions wait for it.
for (const [owner, name, index, usualMs, ms] of [
  [globalThis, "setTimeout", 1, 1000, 2500],
  [Socket.prototype, "setTimeout", 0, 1000, 2500],
  [AbortSignal, "timeout", 0, 300, 30_000],
])
  owner[name] = new Proxy(owner[name], {
    apply: (wait, self, args) =>
      Reflect.apply(wait, self, args[index] === usualMs ? args.with(index, ms) : args),
  });
