import type { JsonValue } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";

interface CommonMcpServer {
  readonly enabled?: boolean;
  /** Fails the thread's start when this server does not come up. */
  readonly required?: boolean;
  readonly startupTimeoutMs?: number;
  readonly toolTimeoutMs?: number;
  /** The only tools that are offered. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  /** Whether its tools run unasked: `"approve"` asks nobody, `"writes"` asks before tools that change something. */
  readonly toolsApproval?: "auto" | "prompt" | "writes" | "approve";
  /** Its tools may run side by side. */
  readonly parallelToolCalls?: boolean;
}

/** A server that Codex starts as a child. */
export interface StdioMcpServer extends CommonMcpServer {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of Codex's own environment that the child gets too. */
  readonly envVars?: readonly string[];
  readonly cwd?: string;
}

/** A server that Codex reaches over HTTP. */
export interface HttpMcpServer extends CommonMcpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers whose values are in variables of Codex's environment. */
  readonly envHeaders?: Readonly<Record<string, string>>;
  /** The variable of Codex's environment that has the bearer token. */
  readonly bearerTokenEnvVar?: string;
  /** What an OAuth login asks for. */
  readonly scopes?: readonly string[];
}

export type McpServer = StdioMcpServer | HttpMcpServer;

/** MCP servers by name. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** Codex starts a thread with any name, and then that server fails: better to say so here. */
const SERVER_NAME = /^[a-zA-Z0-9_:@/.-]+$/;

/**
 * The `config.mcp_servers` of `thread/start`: servers of one thread, never written to the user's config.
 * @throws {CodexError} `invalid_argument` for a name or a server that Codex would refuse, or take and then fail to start.
 */
export function toMcpServersConfig(servers: McpServers): { [name: string]: JsonValue } {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      if (!SERVER_NAME.test(name)) {
        throw invalid(name, `its name must match ${SERVER_NAME.source}`);
      }
      return [name, "url" in server ? httpConfig(name, server) : stdioConfig(name, server)];
    }),
  );
}

function stdioConfig(name: string, server: StdioMcpServer): JsonValue {
  if (typeof server.command !== "string" || server.command === "") {
    throw invalid(name, "it needs a command or a url");
  }
  return told({
    command: server.command,
    args: server.args,
    env: server.env,
    env_vars: server.envVars,
    cwd: server.cwd,
    ...commonConfig(server),
  });
}

function httpConfig(name: string, server: HttpMcpServer): JsonValue {
  if ("command" in server) throw invalid(name, "it has both a command and a url");
  if (!/^https?:$/.test(URL.parse(server.url)?.protocol ?? "")) {
    throw invalid(name, `its url must be http or https, got "${server.url}"`);
  }
  return told({
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

/** Without what was left out: Codex takes a null for a wrong type. */
function told(config: Record<string, unknown>): JsonValue {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as JsonValue;
}

function invalid(name: string, why: string): CodexError {
  return new CodexError("invalid_argument", `The MCP server "${name}" can't be used: ${why}.`);
}
