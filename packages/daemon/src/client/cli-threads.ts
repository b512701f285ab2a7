import type { Command, Session } from "../api/session.ts";
import type { CliThreadDetails, CliThreadItemPage, CliThreadPage, ThreadFrame } from "../api/thread.ts";
import type { CommandOptions, DaemonCallOptions, DaemonClient, OperationArguments } from "./client.ts";
import { type ReconnectOptions, reconnectingMessages } from "./message-stream.ts";
import type { RawRequest } from "./session-files.ts";

type ListOptions = NonNullable<OperationArguments<"GET /threads">["query"]>;
type ImportSettings = NonNullable<OperationArguments<"POST /threads/{threadId}/import">["body"]>;
type ForkSettings = NonNullable<OperationArguments<"POST /threads/{threadId}/fork">["body"]>;

/** A session that was created from a thread, and the command that loads it. */
export interface SessionOfThread {
  readonly session: Session;
  readonly command: Command;
}

/** Access to threads of the Codex CLI, in the Codex home of the daemon's user. */
export class CliThreads {
  readonly #client: DaemonClient;
  readonly #send: (request: RawRequest) => Promise<Response>;

  /** @internal */
  constructor(client: DaemonClient, send: (request: RawRequest) => Promise<Response>) {
    this.#client = client;
    this.#send = send;
  }

  /** Returns one page, newest first. With `search`, a page can be empty although there is a next one. */
  async list({ signal, ...query }: ListOptions & DaemonCallOptions = {}): Promise<CliThreadPage> {
    return this.#client.request("GET /threads", { query, ...(signal && { signal }) });
  }

  async get(threadId: string, options: DaemonCallOptions = {}): Promise<CliThreadDetails> {
    return this.#client.request("GET /threads/{threadId}", { params: { threadId }, ...options });
  }

  /** Returns one page of items, newest first. */
  async items(
    threadId: string,
    { signal, ...query }: DaemonCallOptions & { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<CliThreadItemPage> {
    return this.#client.request("GET /threads/{threadId}/items", {
      params: { threadId },
      query,
      ...(signal && { signal }),
    });
  }

  /** Yields the history of a thread, then new events. Reconnects automatically. Ends after `ended`, or when the signal aborts. */
  async *follow(
    threadId: string,
    { after, ...options }: ReconnectOptions & { readonly after?: string } = {},
  ): AsyncGenerator<ThreadFrame> {
    let last = after;
    const path = `/threads/${encodeURIComponent(threadId)}/events`;
    const connect = async (signal: AbortSignal): Promise<Response> =>
      this.#send({
        method: "GET",
        path,
        query: { after: last },
        headers: { accept: "text/event-stream" },
        signal,
      });
    for await (const messages of reconnectingMessages(connect, options)) {
      for (const { id, data } of messages) {
        const frame = JSON.parse(data) as ThreadFrame;
        if (id !== undefined) last = id;
        yield frame;
        if (frame.type === "ended") return;
      }
    }
  }

  /** Continues a thread as a session. The original is copied and not changed. */
  async import(
    threadId: string,
    settings: ImportSettings = {},
    { wait, ...options }: CommandOptions = {},
  ): Promise<SessionOfThread> {
    return this.#client.request("POST /threads/{threadId}/import", {
      params: { threadId },
      body: settings,
      query: wait === undefined ? {} : { wait },
      ...options,
    });
  }

  /** Forks the thread as a session, through `lastTurnId` or the newest turn that has ended. */
  async fork(
    threadId: string,
    settings: ForkSettings = {},
    { wait, ...options }: CommandOptions = {},
  ): Promise<SessionOfThread> {
    return this.#client.request("POST /threads/{threadId}/fork", {
      params: { threadId },
      body: settings,
      query: wait === undefined ? {} : { wait },
      ...options,
    });
  }
}
