/** Returns the option with which Node runs a module before the program. */
export const preload = (source: string) => `--import=data:text/javascript,${encodeURIComponent(source)}`;
