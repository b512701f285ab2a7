import type { LaunchPlan } from "./launch-plan.ts";
import { SharedServer } from "./shared-server.ts";

/** How long a server without work is kept. Starting another takes a tenth of a second. */
const IDLE_MS = 30_000;

interface Entry {
  readonly starting: Promise<SharedServer>;
}

const servers = new Map<string, Entry>();

/** A server with work to do, until `release` is called. */
export interface ServerLease {
  readonly server: SharedServer;
  /** Whether it ran before: then it may have died since, unnoticed. */
  readonly reused: boolean;
  release(): void;
}

/** The server for this plan, started if there is none. */
export async function leaseServer(plan: LaunchPlan): Promise<ServerLease> {
  const key = JSON.stringify(plan);
  for (;;) {
    const running = servers.get(key);
    const entry = running ?? startServer(key, plan);
    const server = await entry.starting;
    if (server.alive) return { server, reused: running !== undefined, release: server.hold.take() };
    forget(key, entry);
  }
}

/** Makes every other server let go of a thread: only one process can have it. */
export async function letGoElsewhere(threadId: string, except: SharedServer): Promise<void> {
  for (const { starting } of servers.values()) {
    const server = await starting.catch(() => undefined);
    if (server && server !== except) await server.threads.letGo(threadId).catch(() => {});
  }
}

/** Ends every server, each when its turns are over. */
export async function closeServers(): Promise<void> {
  const closing = [...servers].map(async ([key, entry]) => {
    const server = await entry.starting.catch(() => undefined);
    await server?.hold.free();
    if (server) await closeServer(key, entry, server);
  });
  await Promise.all(closing);
}

/** A program that has nothing left to do ends its servers in order, and then itself. */
function onBeforeExit(): void {
  void closeServers();
}

function startServer(key: string, plan: LaunchPlan): Entry {
  const entry: Entry = { starting: SharedServer.launch(plan) };
  if (servers.size === 0) process.on("beforeExit", onBeforeExit);
  servers.set(key, entry);
  entry.starting.then(
    (server) => watch(key, entry, server),
    () => forget(key, entry),
  );
  return entry;
}

function watch(key: string, entry: Entry, server: SharedServer): void {
  let idle: NodeJS.Timeout | undefined;
  const close = (): void => void closeServer(key, entry, server).catch(() => {});
  server.onExit(() => {
    clearTimeout(idle);
    forget(key, entry);
    // What this side has of it ends when its turns have: they are to be told that it died, not that it was closed.
    void server.hold.free().then(close);
  });
  server.hold.onFree(() => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (server.hold.isFree) close();
    }, IDLE_MS);
    idle.unref();
  });
}

async function closeServer(key: string, entry: Entry, server: SharedServer): Promise<void> {
  forget(key, entry);
  await server.close();
}

/** The next turn starts another server. */
function forget(key: string, entry: Entry): void {
  if (servers.get(key) !== entry) return;
  servers.delete(key);
  if (servers.size === 0) process.off("beforeExit", onBeforeExit);
}
