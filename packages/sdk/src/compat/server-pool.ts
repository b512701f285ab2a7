import type { LaunchPlan } from "./launch-plan.ts";
import { SharedServer } from "./shared-server.ts";

/** What is kept of servers without work. Starting another takes a tenth of a second. */
export const POOL_LIMITS = {
  /** How many idle servers stay. The least recently used one ends first. */
  idleServers: 3,
  /** How long an idle server stays. */
  idleMs: 10_000,
} as const;

interface Entry {
  readonly starting: Promise<SharedServer>;
  /** Undefined while it starts. */
  server?: SharedServer;
  /** The objects that turns were run for. */
  readonly users: WeakSet<object>;
}

/** By launch plan, least recently used first. */
const servers = new Map<string, Entry>();
/** Servers that are ending; a program that closes everything waits for them, too. */
const closing = new Set<Promise<void>>();

/** A server with work to do, until `release` is called. */
export interface ServerLease {
  readonly server: SharedServer;
  /** Whether it ran before: then it may have died since, unnoticed. */
  readonly reused: boolean;
  release(): void;
}

/** The server for this plan, started if there is none. */
export async function leaseServer(plan: LaunchPlan, user: object): Promise<ServerLease> {
  const key = JSON.stringify(plan);
  for (;;) {
    const running = servers.get(key);
    const entry = running ?? startServer(key, plan);
    const server = await entry.starting;
    if (server.alive && servers.get(key) === entry) {
      const release = server.hold.take();
      entry.users.add(user);
      // Moves it to the end: it is the most recently used one.
      servers.delete(key);
      servers.set(key, entry);
      return { server, reused: running !== undefined, release };
    }
    forget(key, entry);
  }
}

/** Ends the servers that this object used and that have no work. */
export async function closeIdleServers(user: object): Promise<void> {
  await Promise.all(
    idleServers().map(async ({ key, entry, server }) => {
      if (entry.users.has(user)) await closeServer(key, entry, server);
    }),
  );
}

/** Ends every server, each when its turns are over. */
export async function closeServers(): Promise<void> {
  const ends = [...servers].map(async ([key, entry]) => {
    const server = await entry.starting.catch(() => undefined);
    await server?.hold.free();
    if (server) await closeServer(key, entry, server);
  });
  await Promise.all([...ends, ...closing]);
}

/** A program that has nothing left to do ends its servers in order, and then itself. */
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
      watch(key, entry, server);
    },
    () => forget(key, entry),
  );
  return entry;
}

function watch(key: string, entry: Entry, server: SharedServer): void {
  let idle: NodeJS.Timeout | undefined;
  const close = (): void => void closeServer(key, entry, server);
  server.onExit(() => {
    clearTimeout(idle);
    forget(key, entry);
    // What this side has of it ends when its turns have: they are to report that it died, not that it was closed.
    void server.hold.free().then(close);
  });
  server.hold.onFree(() => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (server.hold.isFree) close();
    }, POOL_LIMITS.idleMs);
    idle.unref();
    endSurplus();
  });
}

function endSurplus(): void {
  for (const { key, entry, server } of idleServers().slice(0, -POOL_LIMITS.idleServers)) {
    void closeServer(key, entry, server);
  }
}

/** Least recently used first. */
function idleServers(): { key: string; entry: Entry; server: SharedServer }[] {
  return [...servers].flatMap(([key, entry]) =>
    entry.server?.hold.isFree ? [{ key, entry, server: entry.server }] : [],
  );
}

/** Never rejects: what can't be closed is gone. */
async function closeServer(key: string, entry: Entry, server: SharedServer): Promise<void> {
  forget(key, entry);
  const end = server.close().catch(() => {});
  closing.add(end);
  await end;
  closing.delete(end);
}

/** The next turn starts another server. */
function forget(key: string, entry: Entry): void {
  if (servers.get(key) !== entry) return;
  servers.delete(key);
  if (servers.size === 0) process.off("beforeExit", onBeforeExit);
}
