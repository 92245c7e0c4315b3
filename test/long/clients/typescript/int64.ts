// `fetch` clients call JSON.stringify and JSON.parse, which round integers beyond 2^53. These two keep them exact on
// Node 22 or later and in browsers since 2025.

declare global {
  interface JSON {
    rawJSON(json: string): unknown;
  }
}

/** A value for a member of type int64 in a request body. JSON.stringify writes its digits. */
export const toInt64 = (value: bigint) => JSON.rawJSON(String(value)) as number;

/** Parses a response that the client returned as text. Every integer is a bigint. */
export function parseInt64<T>(text: string): T {
  const exact = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context?.source ?? 0) : value;
  return JSON.parse(text, exact);
}

/** The cursor of the next page (RFC 8288), or undefined on the last page. */
export function nextCursor({ headers }: Response): string | undefined {
  const link = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  return link ? (new URL(link).searchParams.get("cursor") ?? undefined) : undefined;
}
