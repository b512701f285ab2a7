import { WebSocketTransport } from "@codexkit/rpc";
import { once } from "node:events";
import type { RelayCredential } from "../credentials/credential.ts";
import { RELAY_LIMITS } from "../limits.ts";
import type { ExecutorRegistration, RegistryClient } from "../registry-client/registry-client.ts";
import type { ExecutorConnector, ExecutorLink } from "./executor-loop.ts";
import { openWebSocket } from "./open-websocket.ts";
import type { StreamServer } from "./stream-server.ts";

export interface DirectConnectorOptions {
  readonly registry: RegistryClient;
  readonly credential: RelayCredential;
  readonly server: StreamServer;
}

/**
 * The `direct` transport: one socket with plain JSON-RPC, on which this executor is the server. The peer of the socket sees all
 * messages, so TLS and the registry's credentials are the only protection.
 */
export class DirectConnector implements ExecutorConnector {
  /** This transport has no streams. A session can be resumed over any later connection. */
  readonly hasSuspendedStreams = false;
  readonly #options: DirectConnectorOptions;

  constructor(options: DirectConnectorOptions) {
    this.#options = options;
  }

  register(signal: AbortSignal): Promise<ExecutorRegistration> {
    return this.#options.registry.registerDirect(signal);
  }

  async connect({ url }: ExecutorRegistration, signal: AbortSignal): Promise<ExecutorLink> {
    const { credential, server } = this.#options;
    const headers = await credential.authorize({ method: "GET", url, headers: {}, body: "" }, signal);
    const socket = await openWebSocket(url, { headers, maxPayload: RELAY_LIMITS.messageBytes, signal });
    const closed = once(socket, "close").then(
      ([code]) => new Error(`The peer closed the connection with code ${String(code)}.`),
      (error: unknown) => (error instanceof Error ? error : undefined),
    );
    const transport = new WebSocketTransport(socket, { messageBytes: RELAY_LIMITS.messageBytes });
    server.accept(transport, { longestMessageBytes: RELAY_LIMITS.messageBytes });
    return { closed, close: () => transport.close() };
  }
}
