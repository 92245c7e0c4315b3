/** Returns the option with which Node runs a module before the program. */
export const preload = (source: string) => `--import=data:text/javascript,${encodeURIComponent(source)}`;

const longTimers = preload(`
  import { Socket } from "node:net";
  const longer = (ms) => (ms < 300 ? ms : 10 * ms);
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, longer(ms), ...rest);
  const { setTimeout: setIdle } = Socket.prototype;
  Socket.prototype.setTimeout = function (ms, run) { return setIdle.call(this, longer(ms), run); };`);

/** Gives the functions of a service ten times as long for a call: a busy machine can need more than their second. */
export const PATIENT = preload(`
  import { syncBuiltinESMExports } from "node:module";
  import threads, { Worker } from "node:worker_threads";
  threads.Worker = class extends Worker {
    constructor(file, options) {
      const { execArgv } = options; // of a function, not of the store
      super(file, execArgv ? { ...options, execArgv: [...execArgv, ${JSON.stringify(longTimers)}] } : options);
    }
  };
  syncBuiltinESMExports();`);
