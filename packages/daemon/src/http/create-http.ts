import type { Hono } from "hono";
import { createOpenApiDocument } from "../api/openapi.ts";
import { routes } from "../api/routes/index.ts";
import { createApp } from "./app.ts";
import { createFileHandlers } from "./file-handlers.ts";
import { createFleetHandlers } from "./fleet-handlers.ts";
import type { HttpServices } from "./handler.ts";
import { createHistoryHandlers, type TestCommand } from "./history-handlers.ts";
import { createInboxHandlers } from "./inbox-handlers.ts";
import { createOperationHandlers } from "./operation-handlers.ts";
import { createSessionHandlers } from "./session-handlers.ts";
import { StreamCounter } from "./stream-counter.ts";
import { createStreamHandlers } from "./stream-handlers.ts";
import { createSummaryFeeds } from "./summary-feeds.ts";
import { createThreadHandlers } from "./thread-handlers.ts";
import { createTransferHandlers } from "./transfer-handlers.ts";
import { createWebhookHandlers } from "./webhook-handlers.ts";
import { createTerminalHandlers } from "./terminal-handlers.ts";

/** Creates the hono app of the whole API. */
export function createHttp(services: HttpServices, testCommand: TestCommand): Hono {
  const streams = new StreamCounter(services.limits.streams, services.metrics);
  const feeds = createSummaryFeeds(services.database, services.logger);
  const document = JSON.stringify(createOpenApiDocument(routes, services.version));
  return createApp(services, {
    ...createSessionHandlers(services),
    ...createHistoryHandlers(services, testCommand),
    ...createFileHandlers(services, streams),
    ...createTerminalHandlers(services),
    ...createInboxHandlers(services),
    ...createStreamHandlers(services, streams, feeds),
    ...createTransferHandlers(services),
    ...createThreadHandlers(services, streams),
    ...createWebhookHandlers(services),
    ...createFleetHandlers(services),
    ...createOperationHandlers(services, streams, document),
  });
}
