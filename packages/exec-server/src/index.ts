// The exec-server that a real Codex runs its commands on: processes, PTYs and files of this machine.
import "./require-node.ts";

export { ExecServer, type ExecServerOptions, PROTOCOL_VERSION } from "./server/exec-server.ts";
export type { ByteTransport } from "./server/message-sink.ts";
export type { AcceptOptions } from "./server/transport-connections.ts";
export type { WebSocketAuth } from "./server/ws-auth.ts";

// Tokens for servers with the auth mode `signed-bearer-token`.
export { signBearerToken, type SignBearerTokenOptions } from "./server/sign-bearer-token.ts";
export type { EpochClaim } from "./session/epoch-fence.ts";

export { SERVER_LIMITS, type ServerLimits } from "./limits.ts";
export { jsonLogger, LOG_LEVELS, type LogFields, type Logger, type LogLevel } from "./logger.ts";

// Errors.
export { ExecError, type ExecErrorCode } from "./errors.ts";
