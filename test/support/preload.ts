/** Returns the option with which Node runs a module before the program. */
export const preload = (source: string) => `--import=data:text/javascript,${encodeURIComponent(source)}`;

/** The option with which functions wait longer for their tables. */
export const PATIENCE = `--import=${new URL("patience.js", import.meta.url)}`;
