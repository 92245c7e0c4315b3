import { rm } from "node:fs/promises";
import type { Shared } from "./global-setup.ts";

export default async function teardown(): Promise<void> {
  const { shared } = globalThis as { shared?: Shared };
  await shared?.service.stop();
  await shared?.store.close();
  if (shared) await rm(shared.folder, { recursive: true });
}
