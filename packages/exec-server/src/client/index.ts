// The client for an exec-server, codexkit's or Codex's own.
import "../require-node.ts";
export {
  type ExecConnectOptions,
  ExecClient,
  type ExecClientOptions,
  type ExecDialOptions,
  type HttpRequestOptions,
  type StartOptions,
  type StreamedHttpResult,
} from "./exec-client.ts";
export type { TransportDialer } from "./session-link.ts";
export type { LaunchCommand } from "./launch-transport.ts";
export type { CollectedOutput, ExecProcessEnd, ProcessOutput, RemoteProcess } from "./remote-process.ts";
export type { NetworkWatcher } from "./network-watch.ts";
export type { FileCallOptions, RemoteFiles, RemotePath, WalkOptions } from "./remote-files.ts";
export { CLIENT_LIMITS, type ClientLimits } from "../limits.ts";
export type { CallOptions } from "@codexkit/rpc";

// Types of the wire format.
export type {
  DirectoryEntry,
  EnvironmentConfig,
  EnvironmentConfigStack,
  EnvironmentInfo,
  ExecCalls,
  FileMetadata,
  HttpResult,
  OutputChunk,
  OutputStream,
  ReadResult,
  WalkResult,
  WriteStatus,
} from "../wire/exec-wire.ts";
export type {
  NetworkAnswer,
  NetworkDecision,
  NetworkProtocol,
  NetworkProxyParams,
  ProxiedRequest,
} from "../wire/network-proxy.ts";
export type { SandboxContext } from "../wire/sandbox-context.ts";

// Errors.
export { ExecError, type ExecErrorCode } from "../errors.ts";
