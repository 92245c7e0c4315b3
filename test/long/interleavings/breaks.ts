import { registerHooks } from "node:module";
import { NewPet } from "../../../lib/pet.ts";

/** Faults put into lib/dynamo/ on purpose, which the schedules must notice: code, and what replaces it. */
type Breaks = Record<string, [code: string, replacement: string]>;

/** Of creations. */
export const creationBreaks: Breaks = {
  "a claim is read without ConsistentRead": ["Key: { hash }, ConsistentRead: true", "Key: { hash }"],
  "a claim replaces another one": ["#hash) OR", "#hash) OR attribute_exists(#hash) OR"],
  "a claim lasts less than 24 hours": ["Math.ceil(now) +", "Math.floor(now) +"],
  "a claim lasts more than 24 hours": ["{CLAIM_TTL_ATTRIBUTE} <= ", "{CLAIM_TTL_ATTRIBUTE} < "],
  "another caller's key is the same key": ["[token.caller, token.key]", "[token.key]"],
  "another key of the caller is the same key": ["[token.caller, token.key]", "[token.caller]"],
  "a caller and a key are written as one word": ["[token.caller, token.key]", "token.caller + token.key"],
  "another body gets the first pet": ["!accepted.includes(found.fingerprint)", "false"],
  ...Object.fromEntries(
    Object.keys(NewPet.shape).map((name) => [
      `another ${name} gets the first pet`,
      ["distinctiveMembers(pet)", `distinctiveMembers({ ...pet, ${name}: undefined })`],
    ]),
  ),
  "a creation after 24 hours passes for the first one": ["creation: randomUUID()", "creation: hash"],
  "a concurrent retry's new id is replaced again": [":creation AND petId = :taken", ":creation"],
  "the id in the claim of another creation is used": ["found?.creation !== creation", "!found"],
  "the second taken id in a row is not replaced": ["{ ...claim, petId: id }", "claim"],
  "a pet is written over another one": ["(id) OR creation = :creation", "(id) OR attribute_exists(id)"],
  "a retry cannot write its own pet again": ["(id) OR creation = :creation", "(id)"],
  "the pet is written before its claim": ["claim?.petId ?? generatePetId()", "generatePetId()"],
  "a late retry writes the pet with the old id": ["if (isStalePetId(id)) await retire(id)", ""],
  "a late retry draws another id without retiring the old one": [
    "await retire(id)",
    "id = await claims.replaceId({ ...claim, petId: id })",
  ],
  "an id is retired although a pet has it": ['"attribute_not_exists(id)",', "undefined,"],
};

/** Of lists. */
export const walkBreaks: Breaks = {
  "a retry moves the pet in the index": [
    "Number(pet.id % BigInt(shards))",
    "Math.floor(Math.random() * shards)",
  ],
  "a page continues after a pet that it left out": ["pets.at(-1)", "sorted.at(-1)"],
  "a page is cut before it is sorted": [".flat().sort(byId)", ".flat()"],
  "a page starts with the last pet of the page before": ["id > :after", "id >= :after"],
  "a page skips an id": ["next: last?.id", "next: last && last.id + 1n"],
  "a page leaves out a partition": ["found.flat()", "found.slice(1).flat()"],
  "the last pet of a page hides the next page": ["Limit: limit + 1", "Limit: limit"],
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
