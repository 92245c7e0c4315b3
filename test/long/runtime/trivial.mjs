// The least that a function can be, and its ways to fail.
export async function handler({ fault }) {
  if (fault === "throw") throw new Error("thrown");
  if (fault === "exit") process.exit(1);
  if (fault === "unhandled rejection") void Promise.reject(new Error("unhandled"));
  if (fault) await new Promise(() => setTimeout(() => undefined, 60_000));
  return "done";
}
