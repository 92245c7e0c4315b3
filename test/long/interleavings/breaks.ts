import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

/** A fault put into the stores on purpose, which the schedules must notice. */
export interface Break {
  name: string;
  file: "claims.ts" | "pet-store.ts";
  /** code that occurs once in the file */
  code: string;
  replacement: string;
  noticedBy: "creations" | "walks";
}

const IN_CLAIMS = { file: "claims.ts", noticedBy: "creations" } as const;
const IN_PET_STORE = { file: "pet-store.ts", noticedBy: "creations" } as const;

export const breaks: Break[] = [
  {
    ...IN_CLAIMS,
    name: "a claim is read without ConsistentRead",
    code: "ConsistentRead: true",
    replacement: "ConsistentRead: false",
  },
  {
    ...IN_CLAIMS,
    name: "a claim replaces another one",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the file
    code: "attribute_not_exists(#hash) OR ${CLAIM_TTL_ATTRIBUTE} <= :now",
    replacement: "attribute_not_exists(#hash) OR attribute_exists(#hash)",
  },
  {
    ...IN_CLAIMS,
    name: "a claim lasts less than 24 hours",
    code: "Math.ceil(now) + IDEMPOTENCY_SECONDS",
    replacement: "Math.floor(now) + IDEMPOTENCY_SECONDS",
  },
  {
    ...IN_CLAIMS,
    name: "another body gets the first pet",
    code: "!accepted.includes(found.fingerprint)",
    replacement: "false",
  },
  {
    ...IN_CLAIMS,
    name: "a creation after 24 hours passes for the first one",
    code: "creation: randomUUID()",
    replacement: "creation: hash",
  },
  {
    ...IN_CLAIMS,
    name: "a concurrent retry's new id is replaced again",
    code: "creation = :creation AND petId = :taken",
    replacement: "creation = :creation",
  },
  {
    ...IN_PET_STORE,
    name: "a pet is written over another one",
    code: "attribute_not_exists(id) OR creation = :creation",
    replacement: "attribute_not_exists(id) OR attribute_exists(id)",
  },
  {
    ...IN_PET_STORE,
    name: "a retry cannot write its own pet again",
    code: "attribute_not_exists(id) OR creation = :creation",
    replacement: "attribute_not_exists(id)",
  },
  {
    ...IN_PET_STORE,
    name: "the pet is written before its claim",
    code: "claim?.petId ?? generatePetId()",
    replacement: "generatePetId()",
  },
  {
    ...IN_PET_STORE,
    name: "a retry moves the pet in the index",
    code: "Number(pet.id % BigInt(shards))",
    replacement: "Math.floor(Math.random() * shards)",
    noticedBy: "walks",
  },
  {
    ...IN_PET_STORE,
    name: "a page continues after a pet that it left out",
    code: "pets.at(-1)",
    replacement: "sorted.at(-1)",
    noticedBy: "walks",
  },
  {
    ...IN_PET_STORE,
    name: "a page is cut before it is sorted",
    code: "found.flat().sort(byId)",
    replacement: "found.flat()",
    noticedBy: "walks",
  },
];

const DYNAMO = new URL("../../../lib/dynamo/", import.meta.url).href;

/** From now on, importing creations.ts or walks.ts with `?break=<n>` puts the nth break into the stores that it imports. */
export function breakable(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const broken = context.parentURL && new URL(context.parentURL).search;
      return broken && resolved.url.startsWith(DYNAMO)
        ? { ...resolved, url: `${resolved.url}${broken}` }
        : resolved;
    },
    load(url, context, nextLoad) {
      const { pathname, searchParams } = new URL(url);
      const broken = breaks[Number(searchParams.get("break") ?? Number.NaN)];
      if (!broken || !url.startsWith(DYNAMO + broken.file)) return nextLoad(url, context);
      const source = readFileSync(fileURLToPath(`file://${pathname}`), "utf8");
      if (source.split(broken.code).length !== 2)
        throw new Error(`'${broken.code}' is not once in ${pathname}.`);
      const code = stripTypeScriptTypes(source.replace(broken.code, () => broken.replacement));
      return { format: "module", source: code, shortCircuit: true };
    },
  });
}
