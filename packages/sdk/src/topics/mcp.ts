import type { JsonValue, v1, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { NotificationWaiter } from "./notification-waiter.ts";
import { type ListOptions, listPages, type Page, type PageOptions, toPageParams } from "./paginate.ts";
import type { TopicCaller } from "./topic-caller.ts";

interface McpScope {
  /** Selects this thread's servers. Default: those of the user's config. */
  readonly threadId?: string;
}

export interface McpStatusFilter extends McpScope {
  readonly serverName?: string;
  /** `"toolsAndAuthOnly"` omits the resources, which is faster. */
  readonly detail?: v2.McpServerStatusDetail;
}

export interface McpLoginOptions extends CallOptions, McpScope {
  readonly scopes?: readonly string[];
  readonly clientRegistration?: v2.McpServerOauthClientRegistration;
  /** How long the user may take. Default: 10 minutes. */
  readonly completionTimeoutMs?: number;
}

/** An OAuth login to an MCP server, which the user completes in a browser. */
export interface McpLogin {
  readonly authorizationUrl: string;
  /** Resolves when the user has signed in. Rejects if the login fails or times out. */
  readonly completed: Promise<void>;
}

export interface McpToolCall {
  readonly threadId: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments?: JsonValue;
}

const LOGIN_TIMEOUT_MS = 10 * 60_000;

/** MCP servers of threads and of the user's config. A thread adds its own servers with its `mcpServers` option. */
export class Mcp {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /** Yields all servers with their state, tools and resources. */
  status(options: ListOptions & McpStatusFilter = {}): AsyncGenerator<v2.McpServerStatus, void, undefined> {
    return listPages(options, (page) => this.statusPage(page));
  }

  /** Reads one page of the servers. */
  statusPage(options: PageOptions & McpStatusFilter = {}): Promise<Page<v2.McpServerStatus>> {
    const { threadId = null, serverName = null, detail = null, ...call } = options;
    const params = { ...toPageParams(options), threadId, serverName, detail };
    return this.#caller.request("mcpServerStatus/list", params, pickCallOptions(call));
  }

  /** Starts an OAuth login to an HTTP server. */
  async login(name: string, options: McpLoginOptions = {}): Promise<McpLogin> {
    const { threadId, scopes, clientRegistration, completionTimeoutMs = LOGIN_TIMEOUT_MS, ...call } = options;
    using stack = new DisposableStack();
    const waiter = stack.use(new NotificationWaiter(this.#caller, "mcpServer/oauthLogin/completed"));
    const { authorizationUrl, loginId } = await this.#caller.request(
      "mcpServer/oauth/login",
      {
        name,
        threadId: threadId ?? null,
        clientRegistration: clientRegistration ?? null,
        scopes: scopes ? [...scopes] : null,
        timeoutSecs: Math.ceil(completionTimeoutMs / 1000),
      },
      pickCallOptions(call),
    );
    stack.move();
    const wait = { timeoutMs: completionTimeoutMs, ...(options.signal ? { signal: options.signal } : {}) };
    const completed = waiter
      .until((notice) => notice.name === name && (loginId === undefined || notice.loginId === loginId), wait)
      .then(({ success, error }) => {
        if (!success)
          throw new CodexError("request_failed", `The login to ${name} failed: ${error ?? "no reason"}.`);
      })
      .finally(() => waiter[Symbol.dispose]());
    // A caller may show the URL and ignore `completed`. That must not be an unhandled rejection.
    completed.catch(() => {});
    return { authorizationUrl, completed };
  }

  /** Calls a tool without the agent. A failing tool gives a result with `isError`. */
  callTool(call: McpToolCall, options: CallOptions = {}): Promise<v2.McpServerToolCallResponse> {
    return this.#caller.request("mcpServer/tool/call", call, options);
  }

  /** Reads a resource. */
  async readResource(
    resource: McpScope & { readonly server: string; readonly uri: string },
    options: CallOptions = {},
  ): Promise<v1.ResourceContent[]> {
    const { contents } = await this.#caller.request("mcpServer/resource/read", resource, options);
    return contents;
  }

  /** Reloads the user's config and restarts the servers of loaded threads. */
  async reload(options: CallOptions = {}): Promise<void> {
    await this.#caller.request("config/mcpServer/reload", undefined, options);
  }

  /** Calls the listener with each server's startup status: `starting`, then `ready`, `failed` or `cancelled`. */
  onStartup(listener: (status: v2.McpServerStatusUpdatedNotification) => void): Disposable {
    return this.#caller.on("mcpServer/startupStatus/updated", listener);
  }
}
