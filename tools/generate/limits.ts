import { production } from "../../infra/stages.ts";
import { BODY_LIMIT, DEPTH_LIMIT, IDEMPOTENCY_HOURS, NAME_LIMIT, PAGE_SIZE } from "../../lib/limits.ts";

const whole = (value: number) => value.toLocaleString("en");

/** Each limit of production, and its value. */
function limits(): [limit: string, value: string][] {
  const { throttling, wafRateLimits } = production;
  const minute = (limit?: number) => (limit ? `about ${whole(limit)} requests a minute` : "none of its own");
  return [
    ["Limit of production", "Value"],
    ["`name`", `1 to ${NAME_LIMIT} characters`],
    ["body", `${BODY_LIMIT / 1024} KiB of JSON with at most ${DEPTH_LIMIT} levels`],
    ["`limit` of a list", `${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}, by default ${PAGE_SIZE.default}`],
    ["`Idempotency-Key`", `remembered for at least ${IDEMPOTENCY_HOURS} hours`],
    ["one API key", minute(wafRateLimits?.perKeyPerMinute)],
    ["one IP address", minute(wafRateLimits?.perIpPerMinute)],
    ["each operation, for all clients together", `${whole(throttling.rate)} requests a second`],
  ];
}

/**
 * Returns the text of README.md with the limits of production between their markers.
 *
 * @throws Error when the text does not have both markers
 */
export function withLimits(readme: string): string {
  const [start, end] = ["<!-- limits -->\n", "\n<!-- /limits -->"];
  const [before, , after] = readme.split(new RegExp(`(?<=${start})(.*)(?=${end})`, "s"));
  if (before === undefined || after === undefined)
    throw new Error("README.md has no markers for the limits.");
  const rows = limits();
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[], fill = " ") =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`;
  const [head = "", ...lines] = rows.map((row) => line(row));
  return `${before}\n${[head, line(["", ""], "-"), ...lines].join("\n")}\n${after}`;
}
