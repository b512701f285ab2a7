import type { ClientWire, v1 } from "@codexkit/protocol";
import { connectWebSocket, Peer, type PeerOptions, type Transport } from "@codexkit/rpc";
import { codexConfig, type Script, ScriptedModel, withoutModelVariables } from "@codexkit/scripted-model";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ChildTransport } from "./child-transport.ts";
import { codexBinary } from "./codex-binary.ts";
import { OwnedProcess } from "./owned-process.ts";
import { tempFolder } from "./temp-folder.ts";

export type Listen = "stdio" | "ws" | "unix";

export interface AppServerOptions {
  /** A running model, or a script for one that lives as long as the server. */
  readonly model: ScriptedModel | Script;
  readonly listen?: Listen;
  /** The model's name, which decides the tools that Codex offers it. */
  readonly modelName?: string;
  /** How often Codex tries a failed model request again; its own number unless told. */
  readonly modelRetries?: number;
  /** More `-c` overrides, as `key=value` with a TOML value. */
  readonly config?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface AppServer extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly process: OwnedProcess;
  /** The private `CODEX_HOME`. */
  readonly codexHome: string;
  /** An empty folder for threads to work in. */
  readonly workspace: string;
  /** Where it listens; on stdio there is no address. */
  readonly url: string | undefined;
  /** A client that has shaken hands. On stdio there is one, and only one. */
  connect(options?: PeerOptions & { initialize?: Partial<v1.InitializeParams> }): Promise<Peer<ClientWire>>;
}

/** How long a server may take to listen. */
const START_LIMIT_MS = 20_000;

/** How long `initialize` may take. */
const HANDSHAKE_LIMIT_MS = 20_000;

/** A real `codex app-server` of the pinned release, in a home of its own, on a scripted model. */
export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(await tempFolder("app-server"));
  const home = join(folder.path, "home");
  const codexHome = join(folder.path, "codex-home");
  const workspace = join(folder.path, "workspace");
  const temp = join(folder.path, "temp");
  for (const path of [home, codexHome, workspace, temp]) await mkdir(path);
  const model =
    options.model instanceof ScriptedModel
      ? options.model
      : started.use(await ScriptedModel.start(options.model));
  await writeFile(
    join(codexHome, "config.toml"),
    codexConfig(model, {
      model: options.modelName ?? "mock-model",
      ...(options.modelRetries === undefined ? {} : { retries: options.modelRetries }),
    }).toml,
  );

  const listen = options.listen ?? "stdio";
  const socketUrl = `unix://${join(folder.path, "app-server.sock")}`;
  const listenAt = { stdio: "stdio://", ws: "ws://127.0.0.1:0", unix: socketUrl }[listen];
  const overrides = (options.config ?? []).flatMap((override) => ["-c", override]);
  const owned = new OwnedProcess({
    command: codexBinary(),
    args: ["app-server", "--listen", listenAt, ...overrides],
    cwd: workspace,
    env: {
      ...withoutModelVariables(process.env),
      CODEX_HOME: codexHome,
      // An empty HOME keeps the host's shell profiles out of the output of commands.
      HOME: home,
      // Codex's sandbox leaves files in the temp folder; and for a CODEX_HOME inside the temp folder it makes no PATH
      // aliases, without which a sandboxed command gets no PTY.
      TMPDIR: temp,
      ...options.env,
    },
  });
  // A listening server has no stdin to lose: it is told to go.
  started.defer(() => owned.stop(listen === "stdio" ? "stdin" : "SIGTERM"));

  const url = listen === "ws" ? await announcedUrl(owned) : listen === "unix" ? socketUrl : undefined;
  const owner = started.move();
  return {
    model,
    process: owned,
    codexHome,
    workspace,
    url,
    connect: async ({ initialize, ...peerOptions } = {}) => {
      const transport = url === undefined ? new ChildTransport(owned) : await connectWhenUp(owned, url);
      const peer = new Peer<ClientWire>(transport, peerOptions);
      owner.defer(() => peer.close());
      await shakeHands(peer, initialize);
      return peer;
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** `initialize`, then `initialized`, as a client with the experimental API. */
export async function shakeHands(
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

/** A ws server picks a free port and prints its address on stderr. */
function announcedUrl(owned: OwnedProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error("codex printed no address in time")), START_LIMIT_MS);
    owned.child.stderr.on("data", () => {
      const url = /listening on: (?<url>ws:\/\/\S+)/.exec(owned.stderrTail)?.groups?.["url"];
      if (url === undefined) return;
      clearTimeout(limit);
      resolve(url);
    });
    void owned.ended.then((end) => {
      clearTimeout(limit);
      reject(new Error(owned.describeEnd(end)));
    });
  });
}

/** A unix server announces nothing: it is up when it answers. */
async function connectWhenUp(owned: OwnedProcess, url: string): Promise<Transport> {
  const until = Date.now() + START_LIMIT_MS;
  for (;;) {
    try {
      return await connectWebSocket(url);
    } catch (error) {
      const end = await owned.endedWithin(0);
      if (end) throw new Error(owned.describeEnd(end), { cause: error });
      if (Date.now() > until) throw error;
      await delay(20);
    }
  }
}
