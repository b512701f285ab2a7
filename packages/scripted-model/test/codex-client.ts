import { type AppServer, startAppServer } from "@codexkit/testing";

import type { CodexConfigOptions, ScriptedModel } from "../src/index.ts";
import { codexConfig } from "../src/index.ts";

type Fields = Record<string, unknown>;
type Peer = Awaited<ReturnType<AppServer["connect"]>>;

/** A message from the app-server: a notification, or a request if it has an id. */
export interface ServerMessage {
  readonly id?: number | string;
  readonly method: string;
  // Untyped, because the generated types belong to another package. The tests read only members that exist.
  readonly params: Fields & { readonly item: Fields & { readonly type: string }; readonly turn: Fields };
}

/** The observed output of one turn. */
export interface TurnSeen {
  readonly status: string;
  readonly error: { readonly message: string; readonly codexErrorInfo: unknown } | null;
  readonly messages: readonly ServerMessage[];
  /** Returns the completed items of a type. */
  items(type: string): Fields[];
}

export interface CodexOptions extends CodexConfigOptions {
  /** Answers the server's requests. */
  readonly answer?: (message: ServerMessage) => unknown;
  /** Whether the configuration is passed as `-c` arguments, to test that form too. */
  readonly byArguments?: boolean;
}

const turnLimitMs = 20_000;

/** Runs turns on a real app-server and collects their items and notifications. */
export class CodexClient implements AsyncDisposable {
  readonly #server: AppServer;
  readonly #peer: Peer;
  #messages: ServerMessage[] = [];
  #turnEnded = Promise.withResolvers<Fields>();

  private constructor(server: AppServer, peer: Peer, answer: CodexOptions["answer"]) {
    this.#server = server;
    this.#peer = peer;
    peer.onRest((_params, message) => this.#see(message as ServerMessage));
    peer.handleRest((_params, { message }) => {
      this.#see(message as ServerMessage);
      return answer?.(message as ServerMessage) ?? {};
    });
  }

  static async start(model: ScriptedModel, options: CodexOptions = {}): Promise<CodexClient> {
    const server = await startAppServer({
      model,
      ...(options.model !== undefined && { modelName: options.model }),
      ...(options.retries !== undefined && { modelRetries: options.retries }),
      ...(options.byArguments && { config: codexConfig(model, options).overrides }),
    });
    return new CodexClient(server, await server.connect(), options.answer);
  }

  /** The threads' working directory. */
  get cwd(): string {
    return this.#server.workspace;
  }

  async startThread(params: Fields = {}): Promise<string> {
    const { thread } = await this.#peer.request("thread/start", {
      cwd: this.cwd,
      ephemeral: true,
      sandbox: "workspace-write",
      approvalPolicy: "never",
      ...params,
    });
    return thread.id;
  }

  /** Runs a turn to its end, within a time limit. */
  async turn(threadId: string, text: string, params: Fields = {}): Promise<TurnSeen> {
    this.#messages = [];
    this.#turnEnded = Promise.withResolvers();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`The turn did not end within ${turnLimitMs} ms.`)),
      turnLimitMs,
    );
    const closed = this.#peer.closed.then((error) => {
      throw error;
    });
    const input = [{ type: "text" as const, text, text_elements: [] }];
    await this.#peer.request("turn/start", { threadId, input, ...params });
    const { status, error } = await Promise.race([this.#turnEnded.promise, closed, late.promise]);
    clearTimeout(timer);
    const messages = this.#messages;
    return {
      status: String(status),
      error: error as TurnSeen["error"],
      messages,
      items: (type) =>
        messages.flatMap(({ method, params: { item } }) =>
          method === "item/completed" && item.type === type ? [item] : [],
        ),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  #see(message: ServerMessage): void {
    this.#messages.push(message);
    if (message.method === "turn/completed") this.#turnEnded.resolve(message.params.turn);
  }
}
