import { globSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { NewPet } from "../../../lib/pet.ts";

/** Faults put into lib/dynamo/ on purpose, which the schedules must notice: code, and what replaces it. */
type Breaks = Record<string, [code: string, replacement: string]>;

/** Of creations. */
export const creationBreaks: Breaks = {
  "a claim is read without ConsistentRead": ["Key: { hash }, ConsistentRead: true", "Key: { hash }"],
  "a claim replaces another one": ["#hash) OR", "#hash) OR attribute_exists(#hash) OR"],
  "a claim lasts less than the window": ["Math.ceil(now) +", "Math.floor(now) +"],
  "a claim lasts more than the window": ["{CLAIM_TTL_ATTRIBUTE} <= ", "{CLAIM_TTL_ATTRIBUTE} < "],
  "another caller's key is the same key": ["[token.keyId, token.key]", "[token.key]"],
  "another key of the caller is the same key": ["[token.keyId, token.key]", "[token.keyId]"],
  "keys that differ only in case are the same key": [", token.key]", ", token.key.toLowerCase()]"],
  "a caller and a key are written as one word": ["[token.keyId, token.key]", "token.keyId + token.key"],
  "another body gets the first pet": ["found.fingerprint !== fingerprint", "false"],
  ...Object.fromEntries(
    Object.keys(NewPet.shape).map((name) => [
      `another ${name} gets the first pet`,
      ["Object.entries(pet)", `Object.entries({ ...pet, ${name}: undefined })`],
    ]),
  ),
  "a creation after the window passes for the first one": ["creation: randomUUID()", "creation: hash"],
  "a concurrent retry's new id is replaced again": [":creation AND petId = :taken", ":creation"],
  "the id in the claim of another creation is used": ["found?.creation !== creation", "!found"],
  "the second taken id in a row is not replaced": ["{ ...claim, petId: id }", "claim"],
  "an item is written over another one": ['ConditionExpression: "attribute_not_exists(id)"', ""],
  "a retry brings back a deleted pet": ["not_exists(id)", "not_exists(statusShard)"],
  "a retry undoes a change": [
    'ConditionExpression: "attribute_not_exists(id)"',
    'ConditionExpression: "attribute_not_exists(id) OR creation = :creation", ExpressionAttributeValues: { ":creation": String(Item.creation) }',
  ],
  "every taken id is that of another creation": ["=== creation) return", '=== "-") return'],
  "a changed pet is that of another creation": [
    "return Item.creation",
    'return Item.statusShard === "available" ? Item.creation : undefined',
  ],
  "a deleted pet is a retired id": ["return Item.creation", "return Item.statusShard && Item.creation"],
  "a pet that is not found gets another id": [
    'if (!Item) throw new ApiError("unavailable")',
    "if (!Item) return",
  ],
  "a taken id is read without ConsistentRead": [
    "ConsistentRead: true }),\n      { abortSignal },\n    );\n    // Without",
    "}),\n      { abortSignal },\n    );\n    // Without",
  ],
  "a pet is stored without its creation": ["\n  creation,\n});", "\n});"],
  "the pet is written before its claim": ["claim?.petId ?? generatePetId()", "generatePetId()"],
  "a late retry writes the pet with the old id": ["= isStalePetId(id)", "= false"],
  "a late retry draws another id without retiring the old one": [
    "await putIfFree(stale",
    "stale || await putIfFree(stale",
  ],
};

/** Of lists. */
export const walkBreaks: Breaks = {
  "a page continues after a pet that it left out": ["pets.at(-1)", "sorted.at(-1)"],
  "a page is cut before it is sorted": [".flat().sort((a, b) => Number(a.id - b.id))", ".flat()"],
  "a page starts with the last pet of the page before": ["id > :after", "id >= :after"],
  "a page skips an id": ["next: last?.id", "next: last && last.id + 1n"],
  "a page leaves out a partition": ["found.flat()", "found.slice(1).flat()"],
  "the last pet of a page hides the next page": ["Limit: limit + 1", "Limit: limit"],
};

const breaks = { ...creationBreaks, ...walkBreaks };
const DYNAMO = new URL("../../../lib/dynamo/", import.meta.url);

/**
 * From now on, importing creations.ts or walks.ts with `?<break>` puts the break into the stores that it imports.
 *
 * @throws Error for a break whose code does not stand in exactly one place
 */
export function breakable(): void {
  const sources = globSync("*.ts", { cwd: DYNAMO }).map((file) =>
    readFileSync(new URL(file, DYNAMO), "utf8"),
  );
  for (const [name, [code]] of Object.entries(breaks)) {
    const places = sources.join("").split(code).length - 1;
    if (places !== 1) throw new Error(`The code of the break "${name}" stands in ${places} places: ${code}`);
  }
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const query = resolved.url.startsWith(DYNAMO.href) ? new URL(context.parentURL ?? "").search : "";
      return { ...resolved, url: resolved.url + query };
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const fault = url.startsWith(DYNAMO.href) && breaks[decodeURI(new URL(url).search.slice(1))];
      return fault ? { ...loaded, source: String(loaded.source).replace(...fault) } : loaded;
    },
  });
}
