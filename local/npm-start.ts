import packageJson from "../package.json" with { type: "json" };

/**
 * Returns a command for `spawn` that runs a script with the variables and the options of Node that `npm start` sets. Most
 * of them decide how much memory the service uses.
 *
 * @param words options of Node, the script's path and its arguments
 */
export function npmStartCommand(words: string[]): [command: string, args: string[]] {
  return ["sh", ["-c", packageJson.scripts.start.replace("local/start.ts", '"$@"'), "sh", ...words]];
}
