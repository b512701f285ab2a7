import type { Context } from "hono";
import { fillPath, splitKey } from "../../api/route.ts";
import type { ForwardedRequest } from "../../fleet/forward-token.ts";

/** Header with the token of a forwarded request. Not meant for clients. */
export const FORWARD_HEADER = "codexkit-forward";

/** Describes a request by its path below the daemon's mount point, which may differ between nodes. */
export function describeRequest({ req }: Context, key: string): ForwardedRequest {
  const path = fillPath(splitKey(key).path, req.param());
  return { method: req.raw.method, path: path + new URL(req.url).search };
}
