import { production } from "../../infra/stages.ts";
import { BODY_LIMIT, DEPTH_LIMIT, IDEMPOTENCY_HOURS, NAME_LIMIT, PAGE_SIZE } from "../../lib/limits.ts";
import { format, insert, table } from "./markdown.ts";

const whole = (value: number) => format(value, 0);

function limits(): string {
  const { throttling, wafRateLimits } = production;
  const minute = (limit?: number) => (limit ? `about ${whole(limit)} requests a minute` : "none of its own");
  return table(
    ["Limit of production", "Value"],
    [
      ["`name`", `1 to ${NAME_LIMIT} characters`],
      ["body", `${BODY_LIMIT / 1024} KiB of JSON with at most ${DEPTH_LIMIT} levels`],
      ["`limit` of a list", `${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}, by default ${PAGE_SIZE.default}`],
      ["`Idempotency-Key`", `remembered for at least ${IDEMPOTENCY_HOURS} hours`],
      ["one API key", minute(wafRateLimits?.perKeyPerMinute)],
      ["one IP address", minute(wafRateLimits?.perIpPerMinute)],
      ["each operation, for all clients together", `${whole(throttling.rate)} requests a second`],
    ],
    "text",
  );
}

/** Returns the text of README.md with the limits of production between their markers. */
export const withLimits = (readme: string): string => insert(readme, "limits", limits());
