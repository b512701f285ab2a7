import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HarnessIdentity } from "../rendezvous/harness-connection.ts";
import { signLinkToken } from "./link-token.ts";

export const NODE_LINK_PATH = "/rendezvous/node";

/** Timeout of a connection to another node. A harness waits at most 10 s. */
const CONNECT_MS = 5_000;
/** The same check as in ws. */
const WEBSOCKET_KEY = /^[+/0-9A-Za-z]{22}==$/;

export interface LinkTarget {
  readonly nodeId: string;
  readonly nodeUrl: string;
}

export interface NodeLink {
  readonly target: LinkTarget;
  readonly identity: HarnessIdentity;
  close(): void;
}

/**
 * Connections of harnesses whose executor is connected to another node. Each is forwarded unparsed over a separate upgraded
 * connection, which the other node treats as the socket of the harness. A slow end slows down only this connection.
 */
export class NodeLinks {
  readonly #secret: Uint8Array;
  readonly #links = new Set<NodeLink>();
  #isClosed = false;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** Closes all connections, including those that are being opened. */
  close(): void {
    this.#isClosed = true;
    for (const link of this.#links) link.close();
  }

  get all(): Iterable<NodeLink> {
    return this.#links;
  }

  get size(): number {
    return this.#links.size;
  }

  /** Resolves to false, with an unchanged socket, if the other node refused or could not be reached. */
  async open(
    target: LinkTarget,
    identity: HarnessIdentity,
    {
      request,
      socket,
      head,
    }: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
    onClose: () => void,
  ): Promise<boolean> {
    const key = request.headers["sec-websocket-key"] ?? "";
    if (!WEBSOCKET_KEY.test(key) || request.headers["sec-websocket-version"] !== "13") return false;
    const token = await signLinkToken(this.#secret, target.nodeId, identity);
    const upgraded = await connect(target, { key, token });
    if (!upgraded) return false;
    const { other, accept, otherHead } = upgraded;
    if (socket.destroyed || this.#isClosed) {
      other.destroy();
      return false;
    }
    const link: NodeLink = { target, identity, close: () => void socket.destroy() };
    this.#links.add(link);
    const end = (): void => {
      socket.destroy();
      other.destroy();
      if (this.#links.delete(link)) onClose();
    };
    for (const side of [socket, other]) side.on("close", end).on("error", end);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.write(otherHead);
    other.write(head);
    socket.pipe(other).pipe(socket);
    return true;
  }
}

interface UpgradedLink {
  readonly other: Socket;
  readonly accept: string;
  readonly otherHead: Buffer;
}

async function connect(
  { nodeUrl }: LinkTarget,
  { key, token }: { readonly key: string; readonly token: string },
): Promise<UpgradedLink | undefined> {
  const url = new URL(nodeUrl);
  url.pathname = url.pathname.replace(/\/$/, "") + NODE_LINK_PATH;
  const outgoing = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
      authorization: `Bearer ${token}`,
    },
  });
  const { promise, resolve } = Promise.withResolvers<UpgradedLink | undefined>();
  const timer = setTimeout(() => outgoing.destroy(new Error("The node did not answer in time.")), CONNECT_MS);
  outgoing.on("upgrade", (response, other, otherHead) => {
    other.setNoDelay(true);
    resolve({ other, otherHead, accept: response.headers["sec-websocket-accept"] ?? "" });
  });
  outgoing.on("response", (response) => {
    response.destroy();
    resolve(undefined);
  });
  outgoing.on("error", () => resolve(undefined));
  outgoing.end();
  return promise.finally(() => clearTimeout(timer));
}
