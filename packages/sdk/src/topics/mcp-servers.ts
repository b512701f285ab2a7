import type { JsonValue } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";

interface CommonMcpServer {
  readonly enabled?: boolean;
  /** Fails the thread's start if this server does not start. */
  readonly required?: boolean;
  readonly startupTimeoutMs?: number;
  readonly toolTimeoutMs?: number;
  /** Offers only these tools to the model. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  /** When its tools need approval: `"approve"` never, `"writes"` before tools that change something. */
  readonly toolsApproval?: "auto" | "prompt" | "writes" | "approve";
  /** Whether its tools may run in parallel. */
  readonly parallelToolCalls?: boolean;
}

/** A server that Codex starts as a child process. */
export interface StdioMcpServer extends CommonMcpServer {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables in Codex's environment that the child inherits. */
  readonly envVars?: readonly string[];
  readonly cwd?: string;
}

/** A server that Codex reaches over HTTP. */
export interface HttpMcpServer extends CommonMcpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers whose values come from variables in Codex's environment. */
  readonly envHeaders?: Readonly<Record<string, string>>;
  /** Name of the variable in Codex's environment that holds the bearer token. */
  readonly bearerTokenEnvVar?: string;
  /** Scopes that an OAuth login requests. */
  readonly scopes?: readonly string[];
}

export type McpServer = StdioMcpServer | HttpMcpServer;

/** MCP servers by name. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** Codex accepts any name when the thread starts, and the server fails later. Checking here gives an early error. */
const SERVER_NAME = /^[a-zA-Z0-9_:@/.-]+$/;

/**
 * Converts servers to `config.mcp_servers` of `thread/start`. They apply to one thread and are not written to the user's
 * config.
 * @throws {CodexError} `invalid_argument` for a name or a server that Codex would reject, or accept and fail to start.
 */
export function toMcpServersConfig(servers: McpServers): { [name: string]: JsonValue } {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      if (!SERVER_NAME.test(name)) {
        throw invalidServer(name, `its name must match ${SERVER_NAME.source}`);
      }
      return [name, "url" in server ? httpConfig(name, server) : stdioConfig(name, server)];
    }),
  );
}

function stdioConfig(name: string, server: StdioMcpServer): JsonValue {
  if (typeof server.command !== "string" || server.command === "") {
    throw invalidServer(name, "it needs a command or a url");
  }
  return omitUndefined({
    command: server.command,
    args: server.args,
    env: server.env,
    env_vars: server.envVars,
    cwd: server.cwd,
    ...commonConfig(server),
  });
}

function httpConfig(name: string, server: HttpMcpServer): JsonValue {
  if ("command" in server) throw invalidServer(name, "it has both a command and a url");
  if (!/^https?:$/.test(URL.parse(server.url)?.protocol ?? "")) {
    throw invalidServer(name, `its url must be http or https, got "${server.url}"`);
  }
  return omitUndefined({
    url: server.url,
    http_headers: server.headers,
    env_http_headers: server.envHeaders,
    bearer_token_env_var: server.bearerTokenEnvVar,
    scopes: server.scopes,
    ...commonConfig(server),
  });
}

function commonConfig(server: CommonMcpServer): Record<string, unknown> {
  return {
    enabled: server.enabled,
    required: server.required,
    startup_timeout_sec: seconds(server.startupTimeoutMs),
    tool_timeout_sec: seconds(server.toolTimeoutMs),
    enabled_tools: server.enabledTools,
    disabled_tools: server.disabledTools,
    default_tools_approval_mode: server.toolsApproval,
    supports_parallel_tool_calls: server.parallelToolCalls,
  };
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/** Omits unset values: Codex rejects null as a wrong type. */
function omitUndefined(config: Record<string, unknown>): JsonValue {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as JsonValue;
}

function invalidServer(name: string, reason: string): CodexError {
  return new CodexError("invalid_argument", `The MCP server "${name}" can't be used: ${reason}.`);
}
