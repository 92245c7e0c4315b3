import { randomUUID } from "node:crypto";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import { send } from "../../support/http.ts";
import { startService } from "../../support/local-service.ts";
import { preload } from "../../support/preload.ts";

const NAME = "Written at once";

/** A module that kills the process before the nth write to LevelDB that has the name of the pet. */
const killBeforeWrite = (nth: number) =>
  preload(`
  import { createRequire } from "node:module";
  const { ClassicLevel } = createRequire(${JSON.stringify(fileURLToPath(import.meta.url))})("classic-level");
  let writes = 0;
  for (const write of ["_put", "_batch"]) {
    const original = ClassicLevel.prototype[write];
    ClassicLevel.prototype[write] = function (...input) {
      if (JSON.stringify(input).includes(${JSON.stringify(NAME)}) && ++writes === ${nth}) process.kill(process.pid, "SIGKILL");
      return original.apply(this, input);
    };
  }`);

it("keeps a pet once and whole, whichever write of its creation a kill prevents", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "animal-store-kill-"));
  const headers: [string, string][] = [["Idempotency-Key", randomUUID()]];
  const body = JSON.stringify({ name: NAME, categoryId: 1 });
  let kills = 0;
  for (let served = false; !served; ) {
    const options = [killBeforeWrite(kills + 1)];
    await using service = await startService({ DATA_DIR: join(folder.path, "data") }, options);
    const { baseUrl, key } = service;
    const adding = send(baseUrl, { method: "POST", path: "/pets", key, headers, body });
    const added = await adding.catch(() => undefined);
    if (added?.status !== 201) {
      if (!added) kills++; // otherwise, the machine was too slow for the function
      continue;
    }
    const listed = await send(baseUrl, { path: "/pets?limit=100", key });
    expect(JSON.parse(listed.text)).toEqual([JSON.parse(added.text)]);
    const found = await send(baseUrl, { path: `/pets/${JSON.parse(added.text).id}`, key });
    expect(found).toMatchObject({ status: 200, text: added.text });
    served = true;
  }
  expect(kills).toBeGreaterThan(0);
});
