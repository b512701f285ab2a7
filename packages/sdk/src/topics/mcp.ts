import type { JsonValue, v1, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { callOptions } from "./call-options.ts";
import { NoticeWaiter } from "./notice-waiter.ts";
import { type ListOptions, type Page, pageAt, type PageOptions, pageParams, paginate } from "./paginate.ts";
import type { TopicCaller } from "./topic-caller.ts";

interface McpScope {
  /** The thread whose servers are meant; without it, those of the user's config. */
  readonly threadId?: string;
}

export interface McpStatusFilter extends McpScope {
  readonly serverName?: string;
  /** `"toolsAndAuthOnly"` leaves the resources out, which is faster. */
  readonly detail?: v2.McpServerStatusDetail;
}

export interface McpLoginOptions extends CallOptions, McpScope {
  readonly scopes?: readonly string[];
  readonly clientRegistration?: v2.McpServerOauthClientRegistration;
  /** How long the person may take. Default: ten minutes. */
  readonly completionTimeoutMs?: number;
}

/** An OAuth login to an MCP server, which a person finishes in a browser. */
export interface McpLogin {
  readonly authorizationUrl: string;
  /** Resolves when the person signed in; rejects when it failed or took too long. */
  readonly completed: Promise<void>;
}

export interface McpToolCall {
  readonly threadId: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments?: JsonValue;
}

const MCP_LOGIN_LIMIT_MS = 10 * 60_000;

/** The MCP servers of threads and of the user's config. A thread gets servers of its own by its option `mcpServers`. */
export class Mcp {
  readonly #caller: TopicCaller;

  constructor(caller: TopicCaller) {
    this.#caller = caller;
  }

  /** Every server with its state, its tools and its resources. */
  status(options: ListOptions & McpStatusFilter = {}): AsyncGenerator<v2.McpServerStatus, void, undefined> {
    const { pageSize: _pageSize, ...filter } = options;
    return paginate((cursor) => this.statusPage({ ...filter, ...pageAt(cursor, options) }));
  }

  /** One page of the servers. */
  statusPage(options: PageOptions & McpStatusFilter = {}): Promise<Page<v2.McpServerStatus>> {
    const { threadId = null, serverName = null, detail = null, ...call } = options;
    const params = { ...pageParams(options), threadId, serverName, detail };
    return this.#caller.request("mcpServerStatus/list", params, callOptions(call));
  }

  /** Begins an OAuth login to a server that is reached over HTTP. */
  async login(name: string, options: McpLoginOptions = {}): Promise<McpLogin> {
    const {
      threadId,
      scopes,
      clientRegistration,
      completionTimeoutMs = MCP_LOGIN_LIMIT_MS,
      ...call
    } = options;
    using stack = new DisposableStack();
    const waiter = stack.use(new NoticeWaiter(this.#caller, "mcpServer/oauthLogin/completed"));
    const { authorizationUrl, loginId } = await this.#caller.request(
      "mcpServer/oauth/login",
      {
        name,
        threadId: threadId ?? null,
        clientRegistration: clientRegistration ?? null,
        scopes: scopes ? [...scopes] : null,
        timeoutSecs: Math.ceil(completionTimeoutMs / 1000),
      },
      callOptions(call),
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
    // Whoever only shows the address does not look at the end of the login; that must not end the program.
    completed.catch(() => {});
    return { authorizationUrl, completed };
  }

  /** Calls a tool without the agent. An error of the tool itself is a result with `isError`. */
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

  /** Reads the user's config again and restarts the servers of loaded threads. */
  async reload(options: CallOptions = {}): Promise<void> {
    await this.#caller.request("config/mcpServer/reload", undefined, options);
  }

  /** Hears how servers come up: `starting`, then `ready`, `failed` or `cancelled`. */
  onStartup(listener: (status: v2.McpServerStatusUpdatedNotification) => void): Disposable {
    return this.#caller.on("mcpServer/startupStatus/updated", listener);
  }
}
