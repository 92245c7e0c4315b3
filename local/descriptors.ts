import { closeSync, openSync } from "node:fs";

/** A request needs its connection, and connections to the store. */
const NEEDED = 4;

/**
 * Says once, on standard error, that the process has too few file descriptors left. Without one, Node.js closes new
 * connections and reports nothing, and each function and the store fail with an error of their own.
 *
 * @returns checks at once, when a request failed; otherwise it is checked every second
 */
export function watchDescriptors(): () => void {
  let said = false;
  const check = () => {
    const opened: number[] = [];
    try {
      while (opened.length < NEEDED) opened.push(openSync("/dev/null", "r"));
    } catch (error) {
      if (said || (error as NodeJS.ErrnoException).code !== "EMFILE") return;
      said = true;
      console.error(
        "animal-store: EMFILE: too few file descriptors are left, so requests fail. Raise the limit: `ulimit -n 4096`.",
      );
    } finally {
      for (const file of opened) closeSync(file);
    }
  };
  setInterval(check, 1000).unref();
  return check;
}
