import type { InboxAnswer } from "../api/approval.ts";
import type { CommandBody } from "../api/command.ts";
import type { SessionEvent } from "../api/event.ts";
import type { Approval } from "../api/inbox.ts";
import { fillPath, type RouteArguments, type RouteResponse } from "../api/route.ts";
import type { Routes } from "../api/routes/index.ts";
import type { Command, Session } from "../api/session.ts";
import type { CreateSession } from "../api/settings.ts";
import { DaemonClientError } from "./errors.ts";
import { SummaryStream, type SummaryStreamOptions } from "./summary-stream.ts";
import { CliThreads } from "./cli-threads.ts";
import { type RawRequest, SessionFiles } from "./session-files.ts";
import { type AttachTerminalOptions, TerminalConnection } from "./terminal-connection.ts";
import { type ReconnectOptions, reconnectingMessages } from "./message-stream.ts";

export interface DaemonClientOptions {
  /** The daemon's URL, such as `http://127.0.0.1:4100`, including the path at which it is mounted. */
  readonly url: string;
  /** Bearer token. Not needed in a browser that has logged in. */
  readonly token?: string;
  /** The fetch function. Default: the global one. */
  readonly fetch?: typeof fetch;
}

export interface DaemonCallOptions {
  readonly signal?: AbortSignal;
}

export interface CommandOptions extends DaemonCallOptions {
  /** Requests with the same key are carried out once. Default: a new key per call. */
  readonly idempotencyKey?: string;
  /** Milliseconds to wait for the outcome. Default: 0. */
  readonly wait?: number;
}

/** The operations of the API, such as `GET /sessions`. */
export type Operation = keyof Routes;
export type OperationArguments<Key extends Operation> = RouteArguments<Routes[Key]>;
export type OperationResponse<Key extends Operation> = RouteResponse<Routes[Key]>;

/** An imported session, and the parts of its file that were left out. */
export type ImportedSession = OperationResponse<"POST /sessions/import">;

type OperationQuery<Key extends Operation> = NonNullable<
  OperationArguments<Key> extends { readonly query?: infer Parameters } ? Parameters : never
>;

/** Arguments that may be left out if all of them are optional. */
type RequiredUnlessEmpty<Arguments> = {} extends Arguments ? [args?: Arguments] : [args: Arguments];

/** A client of the daemon, for Node and browsers. Its types come from the schemas with which the daemon validates requests. */
export class DaemonClient {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof fetch;

  constructor({ url, token, fetch: customFetch }: DaemonClientOptions) {
    this.#url = url.replace(/\/$/, "");
    this.#token = token;
    // `fetch` throws in browsers if it is not called with the window as `this`.
    this.#fetch = customFetch ?? ((...input) => fetch(...input));
  }

  /** Calls any operation. Rejects with a `DaemonClientError` if the daemon responds with a problem. */
  async request<Key extends Operation>(
    operation: Key,
    ...[args]: RequiredUnlessEmpty<OperationArguments<Key> & DaemonCallOptions>
  ): Promise<OperationResponse<Key>> {
    const [method, path] = operation.split(" ") as [string, string];
    const { params, query, body, idempotencyKey, signal } = (args ?? {}) as GenericArguments;
    const response = await this.#send(method, fillPath(path, params), query, {
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
    });
    if (!response.ok) throw await DaemonClientError.fromResponse(response);
    return (await readResult(response)) as OperationResponse<Key>;
  }

  async createSession(
    session: CreateSession,
    { wait, ...options }: CommandOptions = {},
  ): Promise<{ readonly session: Session; readonly command: Command }> {
    return this.request("POST /sessions", { body: session, query: toQuery(wait), ...options });
  }

  /** Sends a message to a session. By default it is queued behind running turns. */
  async send(
    sessionId: string,
    input: CommandBody<"message">["input"],
    { mode = "queue", wait, ...options }: CommandOptions & { mode?: CommandBody<"message">["mode"] } = {},
  ): Promise<Command> {
    return this.request("POST /sessions/{sessionId}/messages", {
      params: { sessionId },
      body: { input, mode },
      query: toQuery(wait),
      ...options,
    });
  }

  /**
   * Parks the requests of a session that wait for an answer: their thread is unloaded, and answers are delivered when
   * they arrive. The command's result has the number of parked requests in `parked`.
   */
  async park(sessionId: string, { wait, ...options }: CommandOptions = {}): Promise<Command> {
    return this.request("POST /sessions/{sessionId}/park", {
      params: { sessionId },
      query: toQuery(wait),
      ...options,
    });
  }

  /** Answers an approval or a question. Rejects with `already_answered` if another answer came first. */
  async answer(approvalId: string, answer: InboxAnswer, options: DaemonCallOptions = {}): Promise<Approval> {
    return this.request("POST /inbox/{approvalId}/answer", {
      params: { approvalId },
      body: answer,
      ...options,
    });
  }

  /**
   * Yields all events of a session after a sequence number, then new ones. Reconnects automatically, without repeating or skipping
   * events. Ends after `session.deleted`, or when the signal aborts.
   */
  async *sessionEvents(
    sessionId: string,
    { after = 0, ...options }: ReconnectOptions & { readonly after?: number } = {},
  ): AsyncGenerator<SessionEvent> {
    let last = after;
    const path = fillPath("/sessions/{sessionId}/events", { sessionId });
    const connect = async (signal: AbortSignal): Promise<Response> =>
      this.#send("GET", path, { after: last }, { signal, headers: { accept: "text/event-stream" } });
    for await (const messages of reconnectingMessages(connect, options)) {
      for (const { data } of messages) {
        const event = JSON.parse(data) as SessionEvent;
        if (event.seq <= last) continue;
        last = event.seq;
        yield event;
        if (event.type === "session.deleted") return;
      }
    }
  }

  /** Returns access to the files of a session. */
  files(sessionId: string): SessionFiles {
    return new SessionFiles(this, sessionId, async (request) => this.#sendRaw(request));
  }

  /** Threads of the Codex CLI on the daemon's machine. */
  get threads(): CliThreads {
    return new CliThreads(this, async (request) => this.#sendRaw(request));
  }

  /** Exports a session as one file, for `importSession` of another daemon. No turn may be running. */
  async exportSession(
    sessionId: string,
    options: DaemonCallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const path = fillPath("/sessions/{sessionId}/export", { sessionId });
    const response = await this.#send("GET", path, undefined, { ...options, headers: {} });
    if (!response.ok || !response.body) throw await DaemonClientError.fromResponse(response);
    return response.body;
  }

  /**
   * Imports an exported session, whose thread continues here. Without `trust`, nothing in the file can start a program here, and
   * `leftOut` lists the omitted parts.
   */
  async importSession(
    file: Blob | ReadableStream<Uint8Array> | Uint8Array,
    {
      cwd,
      name,
      trust,
      permissionMode,
      ...options
    }: DaemonCallOptions & OperationQuery<"POST /sessions/import"> = {},
  ): Promise<ImportedSession> {
    const init = {
      ...options,
      body: file as NonNullable<RequestInit["body"]>,
      headers: { "content-type": "application/octet-stream" },
      // Browsers and Node require it for a stream and reject it otherwise.
      ...(file instanceof ReadableStream && { duplex: "half" as const }),
    };
    const query = { cwd, name, trust, permissionMode };
    const response = await this.#send("POST", "/sessions/import", query, init);
    if (!response.ok) throw await DaemonClientError.fromResponse(response);
    return (await response.json()) as ImportedSession;
  }

  /**
   * Attaches to a terminal of a session. Open one with `POST /sessions/{sessionId}/terminals`.
   *
   * @example
   * ```ts
   * const connection = client.attachTerminal(sessionId, terminalId, {
   *   onScreen: ({ screen }) => process.stdout.write(screen),
   *   onOutput: (bytes) => process.stdout.write(bytes),
   * });
   * connection.takeWriter();
   * connection.input("ls\r");
   * ```
   */
  attachTerminal(sessionId: string, terminalId: string, options: AttachTerminalOptions): TerminalConnection {
    const params = { sessionId, terminalId };
    const path = fillPath("/sessions/{sessionId}/terminals/{terminalId}/attach", params);
    // In a web page, the URL of the client can be relative.
    const { location } = globalThis as { location?: { readonly href: string } };
    const url = new URL(this.#url + path, location?.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    // Browsers send their cookie and don't support headers. Node supports headers as a non-standard option.
    const init = this.#token === undefined ? [] : [{ headers: { authorization: `Bearer ${this.#token}` } }];
    return new TerminalConnection(
      {
        open: (after) => {
          if (after !== undefined) url.searchParams.set("after", String(after));
          return new WebSocket(url, ...(init as []));
        },
        check: async () => this.request("GET /sessions/{sessionId}/terminals/{terminalId}", { params }),
      },
      options,
    );
  }

  /** Opens one stream with summaries of all sessions, approvals, and all events of watched sessions. */
  events(options: SummaryStreamOptions = {}): SummaryStream {
    return new SummaryStream(
      async (query, signal) =>
        this.#send("GET", "/events", query, { signal, headers: { accept: "text/event-stream" } }),
      options,
    );
  }

  async #sendRaw({ method, path, query, headers = {}, body, signal }: RawRequest): Promise<Response> {
    return this.#send(method, path, query, {
      headers,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  }

  async #send(
    method: string,
    path: string,
    query: Query | undefined,
    {
      headers,
      ...init
    }: Omit<RequestInit, "headers"> & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) search.set(name, String(value));
    }
    const suffix = search.size > 0 ? `?${search.toString()}` : "";
    return this.#fetch(`${this.#url}${path}${suffix}`, {
      ...init,
      method,
      headers: {
        ...headers,
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      },
    });
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface GenericArguments extends DaemonCallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

async function readResult(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) return response.json();
  return type.startsWith("text/plain") ? response.text() : undefined;
}

function toQuery(wait: number | undefined): { wait?: number } {
  return wait === undefined ? {} : { wait };
}
