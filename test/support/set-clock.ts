import { CLOCK } from "./preload.ts";
import { shared } from "./shared.ts";

// `new Date()` is still the real time, which test/lib/operations.test.ts reads.
const lateMs = Number(shared.lateMs);
const { now } = Date;
Date.now = () => now() - lateMs;
process.execArgv.push(...CLOCK); // of the threads of functions
