import { InvalidArgumentError } from "commander";
import { API_VERSION } from "../lib/operation.ts";

/** Reads the base URL of a service. @returns it without a slash at its end */
export function parseBaseUrl(text: string): string {
  const url = text.replace(/\/$/, "");
  if (URL.canParse(url) && new RegExp(`^https?://[^/?#]+[^?#]*/${API_VERSION}$`).test(url)) return url;
  throw new InvalidArgumentError(
    `Use a URL that ends in /${API_VERSION}, such as the output BaseUrl of a stack.`,
  );
}
