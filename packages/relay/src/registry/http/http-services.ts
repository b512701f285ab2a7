import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";
import type { Logger } from "pino";
import type { AuditLog } from "../audit-log.ts";
import type { RegistryLimits } from "../limits.ts";
import type { Metrics } from "../metrics.ts";
import type { RegistryStore } from "../store/registry-store.ts";
import type { Access } from "./access.ts";

/** The services that the routes use. */
export interface HttpServices {
  readonly store: RegistryStore;
  readonly access: Access;
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly limits: RegistryLimits;
  /** The base URL that executors and harnesses receive, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly isClosing: () => boolean;
}

export function addressOf(context: Context): string {
  return getConnInfo(context).remote.address ?? "unknown";
}
