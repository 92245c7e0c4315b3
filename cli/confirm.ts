import { createInterface } from "node:readline";
import type { World } from "./run-program.ts";

/**
 * Asks on the terminal before a change. Only "y" or "yes" confirms it; Enter does not. The question goes to standard
 * error, so that standard output holds only the result.
 *
 * @param question without the choices
 * @throws Error in one line if the reply is not yes, or if there is no terminal
 */
export async function confirm({ stdin: input, stderr: output }: World, question: string): Promise<void> {
  if (!input.isTTY) throw new Error(`${question} Add --yes to confirm it without a terminal.`);
  const lines = createInterface({ input, output, prompt: `${question} [y/N] ` });
  lines.prompt();
  const { value: reply = "" } = await lines[Symbol.asyncIterator]().next(); // no line after Ctrl-D
  lines.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new Error("Nothing was changed.");
}
