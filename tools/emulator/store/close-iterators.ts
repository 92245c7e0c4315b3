import { AbstractIterator } from "abstract-level";

/**
 * Makes dynalite close its iterators. dynalite 4.0.0 calls `iterator.return()` when it is done with a Query, Scan,
 * ListTables or DeleteTable, but the iterators of abstract-level 3 have `close()` and no `return()`. Without this, each
 * of those calls keeps an iterator, its snapshot and its cached rows until the process ends.
 *
 * @throws Error when abstract-level has `return()` itself, so that this file can be removed
 */
export function closeIterators(): void {
  // The class that all iterators extend; the package does not export it.
  const iterator = Object.getPrototypeOf(AbstractIterator.prototype);
  if ("return" in iterator)
    throw new Error("abstract-level has return() now: remove tools/emulator/store/close-iterators.ts.");
  iterator.return = function (this: AbstractIterator<unknown, unknown, unknown>) {
    return this.close();
  };
}
