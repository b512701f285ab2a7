import type { Context } from "hono";
import { fillPath, splitKey } from "../../api/route.ts";
import type { ForwardedRequest } from "../../fleet/forward-token.ts";

/** Has the token of a forwarded request. Clients have no use for it. */
export const FORWARD_HEADER = "codexkit-forward";

/** A request below the daemon's own path: it may be mounted below another one. */
export function describeRequest({ req }: Context, key: string): ForwardedRequest {
  const path = fillPath(splitKey(key).path, req.param());
  return { method: req.raw.method, path: path + new URL(req.url).search };
}
