/**
 * Escapes, as JSON does, what can garble a terminal or a log: control characters (C0 and C1), separators of lines and
 * paragraphs, the characters that change the direction of text, and halves of surrogate pairs. Everything else stays.
 * Names need some invisible characters: U+200C in Persian, U+200D and the tags in emoji.
 */
export const escapeControls = (text: string) =>
  text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Escapes the control characters in each line of a text. */
export const escapeLines = (text: string) => text.split("\n").map(escapeControls).join("\n");
