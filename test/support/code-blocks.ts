/** Returns the blocks of code in one language of a Markdown text, in order. A block of a list is indented. */
export const codeBlocks = (markdown: string, language: string): string[] =>
  [...markdown.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)].flatMap(([, of, code = ""]) =>
    of === language ? [code] : [],
  );
