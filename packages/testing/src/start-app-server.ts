import type { ClientWire, v1 } from "@codexkit/protocol";
import { connectWebSocket, Peer, type PeerOptions, type Transport } from "@codexkit/rpc";
import type { ScriptedModel } from "@codexkit/scripted-model";
import { launchAppServer, type OwnedProcess } from "codexkit/process";
import { join } from "node:path";
import { codexFolders, type ModelOptions } from "./codex-folders.ts";

export type Listen = "stdio" | "ws" | "unix";

export interface AppServerOptions extends ModelOptions {
  readonly listen?: Listen;
  /** Additional `-c` overrides, as `key=value` with a TOML value. */
  readonly config?: readonly string[];
  /** Additional arguments for `codex app-server`. */
  readonly args?: readonly string[];
  /** Bearer token, if `args` require one. */
  readonly token?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface AppServer extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly process: OwnedProcess;
  /** The private `CODEX_HOME`. */
  readonly codexHome: string;
  /** An empty folder for threads to work in. */
  readonly workspace: string;
  /** The URL that the server listens on. Undefined for stdio. */
  readonly url: string | undefined;
  /** Connects and initializes a client. A server on stdio has exactly one. */
  connect(options?: PeerOptions & { initialize?: Partial<v1.InitializeParams> }): Promise<Peer<ClientWire>>;
}

const HANDSHAKE_LIMIT_MS = 20_000;

/** Starts a real `codex app-server` of the pinned release with a private home and a scripted model, without the SDK. */
export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  await using started = new AsyncDisposableStack();
  const { model, root, codexHome, workspace, env } = started.use(await codexFolders(options));
  const listenAt = {
    stdio: "stdio://",
    ws: "ws://127.0.0.1:0",
    unix: `unix://${join(root, "app-server.sock")}`,
  }[options.listen ?? "stdio"];
  const server = started.use(
    await launchAppServer({
      listen: listenAt,
      cwd: workspace,
      env: { ...env, ...options.env },
      inheritEnv: false,
      configOverrides: [...(options.config ?? [])],
      args: [...(options.args ?? [])],
      token: options.token,
    }),
  );
  const { url } = server;
  const clients = started.move();
  // The first client uses the connection that was opened at launch.
  let opened: Transport | undefined = server.transport;
  const open = async (): Promise<Transport> => {
    const transport = opened;
    opened = undefined;
    if (transport) return transport;
    if (url === undefined)
      throw new Error("A server on stdio has exactly one client, and it is already connected.");
    return connectWebSocket(url, options.token === undefined ? {} : { token: options.token });
  };
  return {
    model,
    process: server.process,
    codexHome,
    workspace,
    url,
    connect: async ({ initialize, ...peerOptions } = {}) => {
      const peer = clients.use(new Peer<ClientWire>(await open(), peerOptions));
      await initializePeer(peer, initialize);
      return peer;
    },
    [Symbol.asyncDispose]: () => clients.disposeAsync(),
  };
}

/** Sends `initialize` and `initialized` as a client with the experimental API. */
export async function initializePeer(
  peer: Peer<ClientWire>,
  params: Partial<v1.InitializeParams> = {},
): Promise<v1.InitializeResponse> {
  const response = await peer.request(
    "initialize",
    {
      clientInfo: { name: "codexkit-testing", title: null, version: "0.1.0" },
      capabilities: { experimentalApi: true, requestAttestation: false },
      ...params,
    },
    { timeoutMs: HANDSHAKE_LIMIT_MS },
  );
  await peer.notify("initialized");
  return response;
}
