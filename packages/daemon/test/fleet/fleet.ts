import { ScriptedModel } from "@codexkit/scripted-model";
import type { STORE_KINDS, TestLocations } from "@codexkit/store/testing";
import { type CodexFolders, codexFolders, createCodexHome } from "@codexkit/testing";
import { mkdir, readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { DaemonClient } from "../../src/client/client.ts";
import type { DaemonOptions } from "../../src/daemon-options.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { FleetNode } from "./fleet-node.ts";
import { WorkScript } from "./work-script.ts";

/** Intervals and time limits of the nodes, in milliseconds. The defaults are ten times as long. */
export const FLEET_TIMES = {
  runner: { claimMs: 100, retryMs: 50, interruptMs: 3_000, callMs: 15_000 },
  store: { connectMs: 2_000, statementMs: 5_000, unansweredMs: 1_000, pollMs: 300, fastPollMs: 60 },
  fleet: {
    leaseMs: 3_000,
    renewMs: 300,
    renewTimeoutMs: 700,
    freezeMs: 1_800,
    takeoverMs: 150,
    affinityMs: 300,
    drainListenMs: 500,
    // Other tests may keep the machine busy.
    maxEventLoopDelayMs: 60_000,
    minFreeMemory: 0,
  },
} as const;

/** The limits of a fleet in production, for tests in which no node is lost. Other tests may keep the machine busy. */
export const DEFAULT_TIMES = { fleet: { maxEventLoopDelayMs: 60_000, minFreeMemory: 0 } } as const;

/** What a connection between a daemon and Postgres is used for. */
export type ConnectionUse = "renewal" | "notification" | "lock" | "pool";

/** Queries that are only sent over a connection with this use. All other connections belong to the pool. */
const QUERIES: readonly (readonly [ConnectionUse, string])[] = [
  ["renewal", '"turns" = '],
  ["notification", 'listen "'],
  ["lock", "pg_try_advisory_lock"],
];

export interface FleetOptions {
  readonly nodes: readonly string[];
  readonly kind: (typeof STORE_KINDS)[number];
  readonly locations: Pick<TestLocations, "create">;
  readonly options?: DaemonOptions;
  /** Default: `FLEET_TIMES`. */
  readonly times?: NonNullable<DaemonOptions["limits"]>;
  /** Starts what is between the proxy of a node and Postgres. Default: nothing. */
  readonly pooler?: (location: string, node: number) => Promise<AsyncDisposable & { readonly url: string }>;
}

/** A command that an app-server has run. */
export interface CommandRun {
  readonly threadId: string;
  readonly turnId: string;
  /** The process ID of the app-server. */
  readonly pid: string;
  readonly callId: string;
  /** When the app-server started the command, in milliseconds since the epoch. */
  readonly startedAt: number;
}

/** The field with the start time in `/proc/<pid>/stat`, counted from the one after the program's name. */
const STARTED_FIELD = 19;
/** Unit of that time. */
const TICK_MS = 10;

let fleets = 0;

/** Real daemons on one store, with the real codex and a scripted model. */
export class Fleet implements AsyncDisposable {
  readonly model: ScriptedModel;
  readonly script: WorkScript;
  readonly nodes: readonly FleetNode[];
  readonly folders: CodexFolders;
  /** The store's location, without a proxy. */
  readonly location: string;
  /** The file to which commands append lines. */
  readonly acts: string;
  readonly #owned: AsyncDisposableStack;
  #token = "";

  private constructor(
    parts: Pick<Fleet, "model" | "script" | "nodes" | "folders" | "location" | "acts">,
    owned: AsyncDisposableStack,
  ) {
    this.model = parts.model;
    this.script = parts.script;
    this.nodes = parts.nodes;
    this.folders = parts.folders;
    this.location = parts.location;
    this.acts = parts.acts;
    this.#owned = owned;
  }

  /** Creates the nodes, and starts them. */
  static async start({
    nodes: names,
    kind,
    locations,
    options,
    times = FLEET_TIMES,
    pooler,
  }: FleetOptions): Promise<Fleet> {
    await using made = new AsyncDisposableStack();
    let script: WorkScript | undefined;
    const model = made.use(
      await ScriptedModel.start((request) => script?.play(request) ?? [], { keepRequests: 100_000 }),
    );
    const folders = made.use(await codexFolders({ model }));
    const acts = join(folders.workspace, "acts");
    script = new WorkScript(acts);
    made.defer(() => script.openAll());
    const location = kind === "postgres" ? await locations.create() : join(folders.root, "store");
    fleets += 1;
    const nodes: FleetNode[] = [];
    for (const [index, name] of names.entries()) {
      const mark = `${process.pid}-${fleets}-${name}`;
      const url = pooler ? made.use(await pooler(location, index)).url : location;
      const parts = { name, mark, kind, location: url, folders, options, times };
      nodes.push(made.use(await createNode(parts)));
    }
    const fleet = new Fleet({ model, script, nodes, folders, location, acts }, made.move());
    try {
      await fleet.#start();
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    return fleet;
  }

  node(index: number): FleetNode {
    const node = this.nodes[index];
    if (!node) throw new Error(`There is no node ${index}.`);
    return node;
  }

  get token(): string {
    return this.#token;
  }

  /** A client of one node. */
  client(node: FleetNode, token: string = this.#token): DaemonClient {
    return new DaemonClient({ url: node.url, token });
  }

  /** Ends all faults, also those of a test that failed in the middle. */
  async heal(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.heal()));
  }

  /** What commands have appended to the file, in order. */
  async commandRuns(): Promise<readonly CommandRun[]> {
    const text = await readFile(this.acts, "utf8").catch(() => "");
    const bootedAt = Date.now() - uptime() * 1_000;
    return text.split("\n").flatMap((line) => {
      const [threadId = "", turnId = "", pid = "", callId = "", ...status] = line.split(" ");
      if (callId === "") return [];
      return [
        { threadId, turnId, pid, callId, startedAt: bootedAt + Number(status[STARTED_FIELD]) * TICK_MS },
      ];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  async #start(): Promise<void> {
    const [first, ...others] = this.nodes;
    // The first node creates the schema and the first token.
    await first?.start();
    if (first) this.#token = (await readFile(join(this.folders.root, first.name, "token"), "utf8")).trim();
    await Promise.all(others.map((node) => node.start()));
  }
}

async function createNode({
  name,
  mark,
  kind,
  location,
  folders,
  options,
  times,
}: {
  name: string;
  mark: string;
  kind: FleetOptions["kind"];
  location: string;
  folders: CodexFolders;
  options: DaemonOptions | undefined;
  times: NonNullable<DaemonOptions["limits"]>;
}): Promise<FleetNode> {
  const stateFolder = join(folders.root, name);
  const codexHome = join(stateFolder, "codex");
  const temp = join(folders.root, `t-${name}`);
  await createCodexHome(codexHome, folders);
  await mkdir(temp);
  const storeProxy = kind === "postgres" ? await startStoreProxy(location) : undefined;
  const store = storeProxy ? throughProxy(location, storeProxy) : undefined;
  const env = { ...folders.env, CODEXKIT_FLEET_NODE: mark };
  return FleetNode.create({
    name,
    mark,
    temp,
    storeProxy,
    options: (peerPort) => ({
      stateFolder,
      ...(store !== undefined && {
        store,
        advertiseUrl: `http://127.0.0.1:${peerPort}`,
        sharedRoots: { work: folders.workspace },
      }),
      nodeName: name,
      roots: [folders.workspace],
      userCodexHome: join(folders.root, "no-codex-home"),
      codex: { inheritEnv: false, env },
      logger: "info",
      drainMs: 10_000,
      ...options,
      limits: { ...times, ...options?.limits },
    }),
  });
}

async function startStoreProxy(location: string): Promise<FaultProxy> {
  const classify = (data: Buffer): string | undefined => QUERIES.find(([, text]) => data.includes(text))?.[0];
  return FaultProxy.start(() => postgresSocket(location), {
    classify,
    unclassified: "pool" satisfies ConnectionUse,
  });
}

/** The unix socket of the server of a URL. */
function postgresSocket(location: string): { readonly path: string } {
  return { path: join(new URL(location).searchParams.get("host") ?? "", ".s.PGSQL.5432") };
}

/** The URL of the same database over TCP, through the proxy. */
function throughProxy(location: string, proxy: FaultProxy): string {
  const url = new URL(location);
  url.searchParams.delete("host");
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  return url.href;
}
