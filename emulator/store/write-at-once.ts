import db, { type IndexEntry } from "dynalite/db/index.js";
import manifest from "dynalite/package.json" with { type: "json" };

/** The version whose keys in LevelDB this file knows. */
const VERSION = "4.0.0";

/**
 * Makes dynalite write an item and its index entries in one batch: both are stored, or neither. dynalite 4.0.0 writes the
 * entries and then the item, so that a process that ends in between leaves entries of an item that does not exist.
 * dynalite's own write of the item follows, and repeats what the batch has.
 *
 * @throws Error for another version of dynalite, which can write in another way
 */
export function writeAtOnce(): void {
  if (manifest.version !== VERSION)
    throw new Error(
      `dynalite is no longer ${VERSION}: check how it writes, and adapt or remove ${import.meta.filename}.`,
    );
  db.updateIndexes = (store, table, existing, item, done) => {
    const stored = item ?? existing;
    if (!stored) return done();
    const { TableName, GlobalSecondaryIndexes = [] } = table;
    const { puts, deletes } = db.getIndexActions(GlobalSecondaryIndexes, existing, item, table);
    const keyOf = ({ index, key }: IndexEntry) => `index-global~${TableName}~${index}~${key}`;
    const key = `item-${TableName}~${db.createKey(stored, table)}`;
    const batch = [
      ...deletes.map((entry) => ({ type: "del", key: keyOf(entry) })),
      ...puts.map((entry) => ({ type: "put", key: keyOf(entry), value: entry.item })),
      item ? { type: "put", key, value: item } : { type: "del", key },
    ];
    store.db.batch(batch, done);
  };
}
