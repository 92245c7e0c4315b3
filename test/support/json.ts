// biome-ignore lint/suspicious/noExplicitAny: templates are untyped JSON
export type Json = any;
