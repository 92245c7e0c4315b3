import type { IncomingMessage } from "node:http";
import type { Route } from "../infra/assembly/template.ts";

/** API Gateway's limit for a request's body, in bytes. */
const PAYLOAD_LIMIT = 10 * 1024 * 1024;

/** A request with its body read and its address taken apart. */
export interface LocalRequest {
  message: IncomingMessage;
  id: string;
  /** below the stage, without a slash at its end, percent-encoded as sent */
  path: string;
  query: URLSearchParams;
  body: Buffer;
}

/** Ends a request with one of the template's gateway responses. */
export class Refusal extends Error {
  readonly type: string;
  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

/**
 * Reads a request whole and takes its address apart.
 *
 * @param id names the request in the logs
 * @throws Refusal when it is too large, breaks off, or is for no stage
 */
export async function readRequest(
  message: IncomingMessage,
  id: string,
  stageName: string,
): Promise<LocalRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      // What follows is read and thrown away, so that the client gets to see the answer.
      if (size <= PAYLOAD_LIMIT) chunks.push(chunk);
    }
  } catch {
    // The client went away before its body was complete.
    throw new Refusal("BAD_REQUEST_BODY");
  }
  if (size > PAYLOAD_LIMIT) throw new Refusal("REQUEST_TOO_LARGE");

  const target = (message.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").replace(/#.*$/, "");
  const [address = "", ...search] = target.split("?");
  const prefix = `/${stageName}`;
  if (address !== prefix && !address.startsWith(`${prefix}/`))
    throw new Refusal("MISSING_AUTHENTICATION_TOKEN");
  return {
    message,
    id,
    path: address.slice(prefix.length).replace(/\/$/, ""),
    query: new URLSearchParams(search.join("?")),
    body: Buffer.concat(chunks),
  };
}

/**
 * Finds the method of a path, or its ANY method; a segment in braces matches any one that is not empty.
 *
 * @throws Refusal when the API has neither
 */
export function findRoute(routes: Route[], { path, message }: LocalRequest) {
  const segments = path.split("/");
  for (const method of [message.method, "ANY"]) {
    for (const route of routes) {
      const names = route.path.split("/");
      const parameters: Record<string, string> = {};
      const matches =
        route.method === method &&
        names.length === segments.length &&
        names.every((name, index) => {
          const segment = segments[index] ?? "";
          if (!name.startsWith("{")) return name === segment;
          parameters[name.slice(1, -1)] = segment;
          return segment !== "";
        });
      if (matches) return { route, parameters };
    }
  }
  throw new Refusal("MISSING_AUTHENTICATION_TOKEN");
}
