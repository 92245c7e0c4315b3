/**
 * Escapes control characters as JSON does, because a terminal would execute them: C0 and C1 codes, line breaks, and the
 * characters that change the direction of text.
 */
export const escapeControls = (text: string) =>
  text.replace(/\p{C}/gu, (character) =>
    character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );

/** Escapes the control characters in each line of a text. */
export const escapeLines = (text: string) => text.split("\n").map(escapeControls).join("\n");
