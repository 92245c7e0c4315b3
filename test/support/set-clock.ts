import { shared } from "./shared.ts";

// `new Date()` is still the real time, which test/lib/operations.test.ts reads.
const { now } = Date;
Date.now = () => now() - Number(shared.lateMs);
