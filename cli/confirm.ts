import { createInterface } from "node:readline";

/** The terminal that a question goes to. */
export interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
}

/**
 * Asks before a change. Only "y" or "yes" confirms it; Enter does not.
 *
 * @param question without the choices
 * @param terminal standard input and standard error by default, so that standard output holds only the result
 * @throws Error in one line if the reply is not yes, or if there is no terminal
 */
export async function confirm(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (!input.isTTY) throw new Error(`${question} Add --yes to confirm it without a terminal.`);
  const lines = createInterface({ input, output, prompt: `${question} [y/N] ` });
  const reply = await new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve("")); // Ctrl-D
    lines.prompt();
  });
  lines.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new Error("Nothing was changed.");
}
