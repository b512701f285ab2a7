// Codex's exec-server protocol, both ends: processes, PTYs and files of one machine, for a Codex on another or the same.
import "./require-node.ts";

// The server that a real Codex uses as its hands.
export { ExecServer, type ExecServerOptions, PROTOCOL_VERSION } from "./server/exec-server.ts";
export type { WebSocketAuth } from "./server/ws-auth.ts";

// The client, for our server and for Codex's own.
export {
  type ConnectOptions,
  ExecClient,
  type ExecClientOptions,
  type StartOptions,
} from "./client/exec-client.ts";
export type { LaunchCommand } from "./client/launch-transport.ts";
export type { CollectedOutput, ProcessEnd, RemoteProcess } from "./client/remote-process.ts";
export type { ProcessOutput } from "./client/output-queue.ts";
export type { NetworkWatcher } from "./client/network-watch.ts";
export type { FileCallOptions, RemoteFiles, RemotePath } from "./client/remote-files.ts";

// The wire, as types.
export type {
  DirectoryEntry,
  EnvironmentConfig,
  EnvironmentInfo,
  ExecCalls,
  ExecNotices,
  ExecQuestions,
  ExecWire,
  FileMetadata,
  HttpResult,
  OutputStream,
  ReadResult,
  WalkResult,
} from "./wire/exec-wire.ts";
export type {
  NetworkAnswer,
  NetworkDecision,
  NetworkProtocol,
  NetworkProxyParams,
  NetworkRequest,
} from "./wire/network-proxy.ts";
export type { SandboxContext } from "./wire/sandbox-context.ts";

// Errors and limits.
export { ExecError, type ExecErrorCode } from "./errors.ts";
export { CLIENT_LIMITS, type ClientLimits, SERVER_LIMITS, type ServerLimits } from "./limits.ts";
export type { LogFields, Logger, LogLevel } from "./logger.ts";
