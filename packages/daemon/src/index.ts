// The daemon: Codex sessions over HTTP, with a durable journal.
import "./require-node.ts";

// Entry point.
export { createDaemon } from "./create-daemon.ts";
export type { Daemon } from "./daemon.ts";
export type { DaemonLimits, DaemonOptions, DaemonRetention } from "./daemon-options.ts";
export type { UpgradeHandler } from "./http/upgrade.ts";
export type { NodeHandler } from "./http/http-server.ts";

// Options: launch of codex, limits of each part, settings of sessions.
export type { DaemonCodexOptions } from "./codex/app-server.ts";
export { RUNNER_LIMITS, type RunnerLimits } from "./codex/limits.ts";
export { FILE_LIMITS, type FileLimits } from "./files/limits.ts";
export { FLEET_LIMITS, type FleetLimits } from "./fleet/limits.ts";
export type { JournalLimits } from "./journal/limits.ts";
export type { RolloutLimits } from "./rollouts/limits.ts";
export type { Retention } from "./journal/retention.ts";
export { HTTP_LIMITS, type HttpLimits } from "./limits.ts";
export { THREAD_LIMITS, type ThreadLimits } from "./threads/limits.ts";
export { TERMINAL_LIMITS, type TerminalLimits } from "./terminals/limits.ts";
export type { StoreLimits } from "@codexkit/store";
export type { AgentMode, ApprovalPolicy, PermissionMode, SessionSettings } from "./api/settings.ts";

// Tokens of an embedded daemon.
export type { Scope } from "./api/route.ts";
export type { NewToken, TokenInfo, TokenStore } from "./tokens/token-store.ts";

// The OpenAPI document, for generators.
export { createOpenApiDocument, type OpenApiDocument } from "./api/openapi.ts";
export { routes } from "./api/routes/index.ts";

// Errors.
export { DaemonError, type DaemonErrorCode, type DaemonErrorOptions } from "./errors.ts";
export type { ProblemType } from "./api/problem.ts";
