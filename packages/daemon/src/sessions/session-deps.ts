import type { AppServer } from "../codex/app-server.ts";
import type { CodexPool } from "../codex/pool.ts";
import type { RunnerLimits } from "../codex/limits.ts";
import type { Database } from "../database.ts";
import type { FileService } from "../files/file-service.ts";
import type { WebhookSettings } from "../webhooks/limits.ts";
import type { ThreadListener } from "./thread-routes.ts";

/** Receives the runner's log records. A pino logger can be used. */
export interface RunnerLogger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** The parts of the runner that a session's owner uses. */
export interface SessionDeps {
  readonly database: Database;
  readonly nodeName: string;
  readonly pool: CodexPool;
  readonly limits: RunnerLimits;
  readonly codexHome: string;
  readonly files: FileService;
  readonly log: RunnerLogger;
  readonly webhooks: WebhookSettings;
  /** Routes the events of a thread, and of the agents below it, to a session. */
  readonly threads: {
    add(threadId: string, listener: ThreadListener): void;
    remove(listener: ThreadListener): void;
    ignore(listener: ThreadListener): void;
  };
  readonly onTurnEnd: (end: "completed" | "failed" | "interrupted") => void;
  /** Called before the session is given up because another node has taken it, with the app-server that has its thread. */
  readonly onFenced: (server: AppServer | undefined) => void;
  /** Called once, when the session is no longer owned here. */
  readonly onReleased: (owner: ThreadListener) => void;
  readonly onChange: () => void;
}
