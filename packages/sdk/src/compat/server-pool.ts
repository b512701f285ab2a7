import type { LaunchPlan } from "./launch-plan.ts";
import { COMPAT_LIMITS } from "./limits.ts";
import { SharedServer } from "./shared-server.ts";

interface Entry {
  readonly starting: Promise<SharedServer>;
  /** Undefined while the server is starting. */
  server?: SharedServer;
  /** The owners of its turns. */
  readonly users: WeakSet<object>;
}

/** By launch plan, least recently used first. */
const servers = new Map<string, Entry>();
/** Servers that are being closed. `closeServers` waits for them, too. */
const closing = new Set<Promise<void>>();

/** A server in use until `release` is called. */
export interface ServerLease {
  readonly server: SharedServer;
  /** Whether the server was already running. It may have crashed since. */
  readonly isReused: boolean;
  release(): void;
}

/** Leases the server for this plan. Starts one if necessary. */
export async function leaseServer(plan: LaunchPlan, user: object): Promise<ServerLease> {
  const key = JSON.stringify(plan);
  for (;;) {
    const running = servers.get(key);
    const entry = running ?? startServer(key, plan);
    const server = await entry.starting;
    if (server.isRunning && servers.get(key) === entry) {
      const release = server.hold.acquire();
      entry.users.add(user);
      // Moves it to the end, because it is now the most recently used one.
      servers.delete(key);
      servers.set(key, entry);
      return { server, isReused: running !== undefined, release };
    }
    forget(key, entry);
  }
}

/** Closes the idle servers that this owner used. */
export async function closeIdleServers(user: object): Promise<void> {
  await Promise.all(
    listIdleServers().map(async ({ key, entry, server }) => {
      if (entry.users.has(user)) await closeServer(key, entry, server);
    }),
  );
}

/** Closes all servers, each after its turns have ended. */
export async function closeServers(): Promise<void> {
  const ends = [...servers].map(async ([key, entry]) => {
    const server = await entry.starting.catch(() => undefined);
    await server?.hold.waitUntilIdle();
    if (server) await closeServer(key, entry, server);
  });
  await Promise.all([...ends, ...closing]);
}

/** Closes the servers when the program has nothing left to do. */
function onBeforeExit(): void {
  void closeServers();
}

function startServer(key: string, plan: LaunchPlan): Entry {
  const entry: Entry = { starting: SharedServer.launch(plan), users: new WeakSet() };
  if (servers.size === 0) process.on("beforeExit", onBeforeExit);
  servers.set(key, entry);
  entry.starting.then(
    (server) => {
      entry.server = server;
      watchServer(key, entry, server);
    },
    () => forget(key, entry),
  );
  return entry;
}

function watchServer(key: string, entry: Entry, server: SharedServer): void {
  let idle: NodeJS.Timeout | undefined;
  const close = (): void => void closeServer(key, entry, server);
  server.onExit(() => {
    clearTimeout(idle);
    forget(key, entry);
    // Closes it after its turns have ended, because they must report a crash, not a close.
    void server.hold.waitUntilIdle().then(close);
  });
  server.hold.onIdle(() => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (server.hold.isIdle) close();
    }, COMPAT_LIMITS.idleMs);
    idle.unref();
    closeSurplus();
  });
}

function closeSurplus(): void {
  for (const { key, entry, server } of listIdleServers().slice(0, -COMPAT_LIMITS.idleServers)) {
    void closeServer(key, entry, server);
  }
}

/** Least recently used first. */
function listIdleServers(): { key: string; entry: Entry; server: SharedServer }[] {
  return [...servers].flatMap(([key, entry]) =>
    entry.server?.hold.isIdle ? [{ key, entry, server: entry.server }] : [],
  );
}

/** Never rejects, because a server that can't be closed has already exited. */
async function closeServer(key: string, entry: Entry, server: SharedServer): Promise<void> {
  forget(key, entry);
  const end = server.close().catch(() => {});
  closing.add(end);
  await end;
  closing.delete(end);
}

/** Removes the server from the pool. The next turn starts another one. */
function forget(key: string, entry: Entry): void {
  if (servers.get(key) !== entry) return;
  servers.delete(key);
  if (servers.size === 0) process.off("beforeExit", onBeforeExit);
}
