import type { Route } from "../template/rest-api.ts";

export interface RouteMatch {
  route: Route;
  /** percent-encoded as sent */
  pathParameters: Record<string, string>;
}

/**
 * Finds the route of a request as API Gateway does: the most specific resource first, where a fixed segment comes
 * before a parameter and a parameter before a greedy one (`{name+}`), and then its method or ANY. A slash at the end of a
 * path is ignored.
 *
 * @returns a function that returns undefined when the API has no such route
 */
export function createRouter(routes: Route[]): (method: string, path: string) => RouteMatch | undefined {
  const resources = [...Map.groupBy(routes, ({ path }) => path)]
    .sort(([a], [b]) => (precedence(a) < precedence(b) ? -1 : 1))
    .map(([path, methods]) => compile(path, methods));

  return (method, path) => {
    for (const { pattern, parameterNames, methods } of resources) {
      const found = pattern.exec(path.replace(/\/$/, ""));
      if (!found) continue;
      const route = methods.get(method) ?? methods.get("ANY");
      const values = parameterNames.map((name, index): [string, string] => [name, found[index + 1] ?? ""]);
      return route && { route, pathParameters: Object.fromEntries(values) };
    }
    return undefined;
  };
}

/** A sort key: one digit for each segment, lower for a more specific one. */
const precedence = (path: string) =>
  path
    .split("/")
    .map((segment) => (segment.endsWith("+}") ? 2 : segment.startsWith("{") ? 1 : 0))
    .join("");

function compile(path: string, routes: Route[]) {
  const parameterNames: string[] = [];
  const pattern = path
    .split("/")
    .map((segment) => {
      const [, name, greedy] = /^\{(.+?)(\+?)\}$/.exec(segment) ?? [];
      if (name === undefined) return RegExp.escape(segment);
      parameterNames.push(name);
      return greedy ? "(.+)" : "([^/]+)";
    })
    .join("/");
  return {
    pattern: new RegExp(`^${pattern}$`),
    parameterNames,
    /** by HTTP method, or ANY */
    methods: new Map(routes.map((route) => [route.method, route])),
  };
}
