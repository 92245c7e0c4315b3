/** Returns a field of a JSON log event by its path, such as `record.requestId`. Any event has `@message`. */
function fieldOf(event: string, path: string): string | undefined {
  if (path === "@message") return event;
  if (!event.startsWith("{")) return undefined;
  const value = path.split(".").reduce((value, name) => value?.[name], JSON.parse(event));
  return value === undefined ? undefined : String(value);
}

/**
 * Returns whether a log event meets the `filter` of a CloudWatch Logs Insights query. It knows what docs/incidents.md uses:
 * `=`, `like`, `not like` and `or`. A comparison with a field that an event does not have is false.
 *
 * @throws Error when the filter has anything else
 */
export function matches(query: string, event: string): boolean {
  const [filter = "", ...others] = query.split(/\s\|\s/).filter((part) => part.trim().startsWith("filter "));
  if (!filter || others.length > 0) throw new Error(`The query needs one filter: ${query}`);
  return filter
    .trim()
    .slice("filter ".length)
    .split(/\s+or\s+/)
    .some((condition) => {
      const [, path = "", text, not, pattern] =
        /^([\w.@]+) (?:= ["']([^"']*)["']|(not )?like \/(.*)\/)$/.exec(condition) ?? [];
      if (!path) throw new Error(`The filter is not understood: ${condition}`);
      const value = fieldOf(event, path);
      if (value === undefined) return false;
      return pattern === undefined ? value === text : new RegExp(pattern).test(value) !== Boolean(not);
    });
}
