import type { RouteTable } from "../route.ts";
import { fleetRoutes } from "./fleet.ts";
import { fileRoutes } from "./files.ts";
import { historyRoutes } from "./history.ts";
import { inboxRoutes } from "./inbox.ts";
import { operationRoutes } from "./operations.ts";
import { sessionRoutes } from "./sessions.ts";
import { transferRoutes } from "./transfer.ts";
import { webhookRoutes } from "./webhooks.ts";
import { terminalRoutes } from "./terminals.ts";
import { threadRoutes } from "./threads.ts";

/** Every operation of the API. */
export const routes = {
  ...sessionRoutes,
  ...historyRoutes,
  ...fileRoutes,
  ...terminalRoutes,
  ...inboxRoutes,
  ...operationRoutes,
  ...fleetRoutes,
  ...transferRoutes,
  ...threadRoutes,
  ...webhookRoutes,
} as const satisfies RouteTable;

export type Routes = typeof routes;
