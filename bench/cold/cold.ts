import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Section, Subject } from "../section.ts";
import { measure } from "./measure.ts";
import { startMock } from "./mock.ts";
import { report } from "./report.ts";
import { defaults, deployed, references, withoutWarmUp } from "./variants.ts";

/** Cold starts of the service's functions, and of others for comparison. */
export async function coldStart({ quick, assembly }: Subject): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), "animal-store-bench-"));
  const mock = await startMock(folder);
  try {
    const warmed = deployed(assembly);
    const bundles = warmed.map(({ folder, ...variant }) => ({ ...variant, file: join(folder, "index.js") }));
    const groups = {
      warmed,
      bundles,
      defaults: await defaults(folder),
      unwarmed: await withoutWarmUp(folder),
      cached: bundles.map((variant) => ({ ...variant, cache: join(folder, "cache") })),
      references: Object.values(await references(folder)),
    };
    const environment = {
      ...mock.environment,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "bench",
      AWS_SECRET_ACCESS_KEY: "bench",
      PETS_TABLE: "Pets",
      CLAIMS_TABLE: "Claims",
      KEYS_TABLE: "Keys",
      STATUS_SHARDS: "1",
      STAGE: "local",
    };
    const rounds = quick ? 2 : 15;
    const all = await measure(rounds, Object.values(groups).flat(), environment);
    const found = Object.entries(groups).map(([name, variants]) => {
      const results = all.splice(0, variants.length);
      return [
        name,
        variants.map((variant, n) => ({ name: variant.name, ...(results[n] as (typeof all)[0]) })),
      ];
    });
    return report(rounds, Object.fromEntries(found));
  } finally {
    mock.close();
    await rm(folder, { recursive: true });
  }
}
