import type { Context } from "hono";
import type { Logger } from "pino";
import type { ParsedRequest, Route, RouteResponse } from "../api/route.ts";
import type { Routes } from "../api/routes/index.ts";
import type { SessionSettings } from "../api/settings.ts";
import type { Identity } from "../api/token.ts";
import type { Database } from "../database.ts";
import type { DebugSources } from "../debug/debug-bundle.ts";
import type { FileService } from "../files/file-service.ts";
import type { HttpLimits } from "../limits.ts";
import type { Runner } from "../sessions/runner.ts";
import type { CliThreads } from "../threads/cli-threads.ts";
import type { WebhookSettings } from "../webhooks/limits.ts";
import type { FleetLimits } from "../fleet/limits.ts";
import type { FleetNode } from "../fleet-store/node-directory.ts";
import type { SharedRoots } from "../session-store/needs.ts";
import type { StaticFiles } from "./static-files.ts";
import type { TerminalService } from "../terminals/terminal-service.ts";
import type { OriginRules } from "./check-origin.ts";
import type { Metrics } from "./metrics.ts";

/** Services that the handlers use. */
export interface HttpServices {
  readonly database: Database;
  readonly runner: Runner;
  readonly files: FileService;
  readonly terminals: TerminalService;
  /** Undefined if the daemon does not serve threads of the Codex CLI. */
  readonly threads: CliThreads | undefined;
  readonly debug: DebugSources;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly limits: HttpLimits;
  readonly webhooks: WebhookSettings;
  readonly origins: OriginRules;
  /** Undefined if the daemon does not serve a web page. */
  readonly staticFiles: StaticFiles | undefined;
  /** none: every request has all scopes. */
  readonly auth: "tokens" | "none";
  /** Resolved folders in which sessions may work. */
  readonly roots: readonly string[];
  /** Default settings of new sessions. */
  readonly defaults: SessionSettings;
  /** Name of this node. Sessions with a local folder stay on it. */
  readonly nodeName: string;
  /** Resolved folders that other nodes have under the same path. */
  readonly sharedRoots: SharedRoots;
  readonly fleetLimits: FleetLimits;
  /** Called when a client has requested that this node drains. */
  readonly onDrain: () => void;
  /** Whether the daemon shuts down. A daemon that was only drained keeps running until it is restarted. */
  readonly isClosing: () => boolean;
  readonly version: string;
  /** Whether all mutations are rejected, because the daemon replays a session. */
  readonly isReadOnly: boolean;
  /** Aborts when the daemon closes, which ends all streams. */
  readonly closing: AbortSignal;
}

export interface HandlerRequest<R extends Route> extends ParsedRequest<R> {
  readonly identity: Identity;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
  readonly context: Context;
  /**
   * Forwards the request to another node. Rejects with `node_unavailable`, also if another node has already forwarded
   * the request.
   */
  readonly forward: (node: FleetNode) => Promise<Response>;
}

/** Returns the body of the response, or a complete response. Errors are converted to problems. */
export type Handler<R extends Route> = (request: HandlerRequest<R>) => Promise<RouteResponse<R> | Response>;

export type Handlers<Key extends keyof Routes = keyof Routes> = {
  readonly [K in Key]: Handler<Routes[K]>;
};
