import type { FunctionDefinition, StackDefinition } from "../../tools/emulator/template/template.ts";

/** Returns the function that an output names. */
export function functionOf({ functions, outputs }: StackDefinition, output: string): FunctionDefinition {
  const found = functions.find(({ name }) => name === outputs[output]);
  if (!found) throw new Error(`The template has no function that the output ${output} names.`);
  return found;
}
