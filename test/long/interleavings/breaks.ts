import { registerHooks } from "node:module";

/** Faults put into lib/dynamo/ on purpose, which the schedules must notice: code, and what replaces it. */
type Breaks = Record<string, [code: string, replacement: string]>;

export const creationBreaks: Breaks = {
  "a claim is read without ConsistentRead": ["Key: { hash }, ConsistentRead: true", "Key: { hash }"],
  "a claim replaces another one": ["#hash) OR", "#hash) OR attribute_exists(#hash) OR"],
  "a claim lasts less than 24 hours": ["Math.ceil(now) +", "Math.floor(now) +"],
  "another body gets the first pet": ["!accepted.includes(found.fingerprint)", "false"],
  "a creation after 24 hours passes for the first one": ["creation: randomUUID()", "creation: hash"],
  "a concurrent retry's new id is replaced again": [":creation AND petId = :taken", ":creation"],
  "a pet is written over another one": ["(id) OR creation = :creation", "(id) OR attribute_exists(id)"],
  "a retry cannot write its own pet again": ["(id) OR creation = :creation", "(id)"],
  "the pet is written before its claim": ["claim?.petId ?? generatePetId()", "generatePetId()"],
};

export const walkBreaks: Breaks = {
  "a retry moves the pet in the index": [
    "Number(pet.id % BigInt(shards))",
    "Math.floor(Math.random() * shards)",
  ],
  "a page continues after a pet that it left out": ["pets.at(-1)", "sorted.at(-1)"],
  "a page is cut before it is sorted": [".flat().sort(byId)", ".flat()"],
};

const breaks = { ...creationBreaks, ...walkBreaks };
const DYNAMO = new URL("../../../lib/dynamo/", import.meta.url).href;

/** From now on, importing creations.ts or walks.ts with `?<break>` puts the break into the stores that it imports. */
export function breakable(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const query = resolved.url.startsWith(DYNAMO) ? new URL(context.parentURL ?? "").search : "";
      return { ...resolved, url: resolved.url + query };
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const fault = url.startsWith(DYNAMO) && breaks[decodeURI(new URL(url).search.slice(1))];
      return fault ? { ...loaded, source: String(loaded.source).replace(...fault) } : loaded;
    },
  });
}
