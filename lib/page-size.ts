import { PAGE_SIZE } from "./limits.ts";
import { fromText, must } from "./validation.ts";

const { default: size, minimum, maximum } = PAGE_SIZE;

function parsePageSize(text: string): number | undefined {
  const limit = /^[1-9]\d*$/.test(text) ? Number(text) : 0;
  return limit >= minimum && limit <= maximum ? limit : undefined;
}

/** The size of a page. Source: contract 3.2 and 3.6. */
export const PageSize = fromText(parsePageSize, String, must(`be an integer from ${minimum} to ${maximum}`), {
  type: "integer",
  format: "int32",
  minimum,
  maximum,
  description: `Maximum number of items to return, ${minimum} to ${maximum}`,
  examples: [size],
});
