import type { ClientRequests, ClientWire, ServerNotifications, v2 } from "@codexkit/protocol";
import type { Peer } from "@codexkit/rpc";
import type { AppServer } from "@codexkit/testing";
import type { ServerRequestHandlers } from "../src/requests/handlers.ts";
import type { RequestEvent } from "../src/requests/request-events.ts";
import {
  ServerRequestBroker,
  type ServerRequestBrokerOptions,
} from "../src/requests/server-request-broker.ts";

/** A client of a real codex that consists of a peer and a broker, connected as in the SDK. */
export class BrokerClient {
  readonly peer: Peer<ClientWire>;
  readonly broker: ServerRequestBroker;
  readonly events: RequestEvent[] = [];
  /** Completed items, in order. */
  readonly items: v2.ThreadItem[] = [];
  /** Replace these at any time. */
  handlers: ServerRequestHandlers;
  readonly #started = new Map<string, v2.ThreadItem>();
  readonly #running = new Map<string, v2.ThreadItem>();
  readonly #waiting = new Map<string, (params: unknown) => void>();

  private constructor(
    peer: Peer<ClientWire>,
    handlers: ServerRequestHandlers,
    options: Partial<ServerRequestBrokerOptions>,
  ) {
    this.peer = peer;
    this.handlers = handlers;
    this.broker = new ServerRequestBroker({
      handlersFor: () => [this.handlers],
      emit: (event) => {
        this.events.push(event);
        this.#notify(event.type, event);
      },
      itemFor: (_threadId, itemId) => this.#started.get(itemId),
      itemsOf: () => [...this.#running.values()],
      ...options,
    });
    peer.handleRest((params, { id, method, signal }) => this.broker.receive({ id, method, params }, signal));
    peer.onRest((params, { method }) => this.#receive(method, params));
    void peer.closed.then((reason) => this.broker.connectionEnded(reason));
  }

  static async connect(
    server: AppServer,
    handlers: ServerRequestHandlers = {},
    options: Partial<ServerRequestBrokerOptions> = {},
  ): Promise<BrokerClient> {
    return new BrokerClient(await server.connect(), handlers, options);
  }

  async startThread(
    server: AppServer,
    settings: Partial<ClientRequests["thread/start"]["params"]> = {},
  ): Promise<string> {
    const { thread } = await this.peer.request("thread/start", {
      cwd: server.workspace,
      sandbox: "workspace-write",
      approvalPolicy: "on-request",
      ...settings,
    });
    return thread.id;
  }

  async startTurn(
    threadId: string,
    settings: Partial<ClientRequests["turn/start"]["params"]> = {},
  ): Promise<string> {
    const input: v2.UserInput[] = [{ type: "text", text: "go", text_elements: [] }];
    const { turn } = await this.peer.request("turn/start", { threadId, input, ...settings });
    return turn.id;
  }

  /** Runs a turn to its end. */
  async runTurn(
    threadId: string,
    settings: Partial<ClientRequests["turn/start"]["params"]> = {},
  ): Promise<v2.Turn> {
    const completed = this.until<ServerNotifications["turn/completed"]>("turn/completed");
    await this.startTurn(threadId, settings);
    return (await completed).turn;
  }

  /** The next notification or event of this name. */
  until<Params = unknown>(name: string): Promise<Params> {
    return new Promise((resolve) => {
      this.#waiting.set(name, resolve as (params: unknown) => void);
    });
  }

  #receive(method: string, params: unknown): void {
    if (method === "item/started") {
      const { item } = params as ServerNotifications["item/started"];
      this.#started.set(item.id, item);
      this.#running.set(item.id, item);
    } else if (method === "item/completed") {
      const { item } = params as ServerNotifications["item/completed"];
      this.#running.delete(item.id);
      this.items.push(item);
    } else if (method === "serverRequest/resolved") {
      this.broker.resolved(params as ServerNotifications["serverRequest/resolved"]);
    } else if (method === "turn/completed") {
      const { threadId, turn } = params as ServerNotifications["turn/completed"];
      this.broker.turnEnded(threadId, turn.id);
    }
    this.#notify(method, params);
  }

  #notify(name: string, params: unknown): void {
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    waiting?.(params);
  }
}
