// A node that can't renew its lease: its app-servers are stopped, and then continued or killed. With the real codex and Postgres.
import { gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { PostgresProxy } from "@codexkit/store/testing";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useDatabases } from "./database-fixture.ts";
import { textsOf } from "./killed-runner.ts";
import { startRunner, type TestRunner, TestSession } from "./start-runner.ts";
import type { SessionEvent } from "../src/api/event.ts";
import { type Database, openDatabase } from "../src/database.ts";
import { fleetLimits } from "../src/fleet/limits.ts";

const databases = useDatabases("postgres");

/** Long enough for a busy machine to renew in time, short enough to wait for. */
const FLEET = fleetLimits({
  leaseMs: 8_000,
  freezeMs: 4_000,
  renewMs: 500,
  renewTimeoutMs: 2_000,
  frozenKillMs: 3_600_000,
});
const LIMITS = { claimMs: 50, retryMs: 50, healthCheckMs: 1_000, notRespondingMs: 2_000 };

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";

const holding =
  (open: ReturnType<typeof gate>): ScriptFunction =>
  ({ lastUserText }) =>
    lastUserText === "hold" ? say(["half ", waitFor(open), "done"]) : say(`received: ${lastUserText}`);

/** The state of a process: `T` if it is stopped, undefined if it does not exist. */
function processState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0];
  } catch {
    return undefined;
  }
}

const hasEnded = (pid: number): boolean => ["Z", undefined].includes(processState(pid));

function pidOf({ runner }: TestRunner): number {
  return runner.status.appServers[0]?.pid ?? 0;
}

/** Finds the watchdog of a node. */
function watchdogOf(nodeId: string | null): number | undefined {
  const pid = readdirSync("/proc").find((name) => {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return line.includes("watchdog-program") && line.includes(String(nodeId));
    } catch {
      return false;
    }
  });
  return pid === undefined ? undefined : Number(pid);
}

async function startBehindProxy(
  script: ScriptFunction,
): Promise<{ location: string; proxy: PostgresProxy; stage: TestRunner }> {
  const location = await databases.location();
  const proxy = await PostgresProxy.start(location);
  const stage = await startRunner(script, {
    location: proxy.url,
    nodeName: "a",
    fleet: FLEET,
    limits: LIMITS,
  });
  return { location, proxy, stage };
}

/** Lets the lease of a node expire, and claims its sessions for another node. */
async function takeOver(database: Database, nodeId: string | null): Promise<number> {
  const { nodes, sessions, store } = database;
  await store.db.updateTable("node").set({ lease_until: 1 }).where("id", "=", nodeId).execute();
  const node = { name: "b", version: "0", codexVersion: "0.999.0" };
  const claimed = await sessions.claim({
    ...node,
    nodeId: await nodes.register(node),
    limit: 10,
    labels: [],
  });
  return claimed.length;
}

test("a node without a connection to Postgres stops its app-servers, and continues them after it reconnects", async () => {
  const open = gate();
  const { proxy, stage } = await startBehindProxy(holding(open));
  await using _proxy = proxy;
  await using _stage = stage;
  const session = await stage.create();
  await session.send("hold");
  await session.event(isDelta);
  const pid = pidOf(stage);
  proxy.setMode("blackhole");
  await expect.poll(() => stage.runner.status.fleet.isFrozen).toBe(true);
  expect(processState(pid)).toBe("T");
  open.open();
  proxy.setMode("pass");
  await expect.poll(() => stage.runner.status.fleet.isFrozen).toBe(false);
  await session.event(({ type }) => type === "turn.completed");
  expect(textsOf(await session.events(), "agentMessage")).toEqual(["half done"]);
  expect(stage.runner.status).toMatchObject({ appServerRestarts: 0, fleet: { fenced: 0 } });
  expect(pidOf(stage)).toBe(pid);
});

test("an app-server whose session another node has taken over is killed instead of continued", async () => {
  const open = gate();
  const { proxy, stage, location } = await startBehindProxy(holding(open));
  await using _proxy = proxy;
  await using _stage = stage;
  await using other = await openDatabase(location);
  const session = await stage.create();
  await session.send("hold");
  await session.event(isDelta);
  const pid = pidOf(stage);
  proxy.setMode("blackhole");
  await expect.poll(() => stage.runner.status.fleet.isFrozen).toBe(true);
  expect(await takeOver(other, stage.runner.status.nodeId)).toBe(1);
  open.open();
  proxy.setMode("pass");
  await expect.poll(() => stage.runner.status.fleet).toMatchObject({ isFrozen: false, fenced: 1 });
  await expect.poll(() => hasEnded(pid)).toBe(true);
  await expect.poll(() => stage.runner.status.sessions).toBe(0);
  const events = await new TestSession(session.id, other).events();
  expect(events.at(-1)).toMatchObject({ type: "session.moved", to: "b", reason: "node_lost" });
});

test("an app-server ends too if an event of its session is refused before the lease is renewed", async () => {
  const open = gate();
  const { proxy, stage, location } = await startBehindProxy(holding(open));
  await using _proxy = proxy;
  await using _stage = stage;
  await using other = await openDatabase(location);
  const session = await stage.create();
  await session.send("hold");
  await session.event(isDelta);
  const pid = pidOf(stage);
  expect(await takeOver(other, stage.runner.status.nodeId)).toBe(1);
  open.open();
  await expect.poll(() => hasEnded(pid)).toBe(true);
  expect(stage.runner.status.fleet.fenced).toBe(1);
  await expect.poll(() => stage.runner.status.sessions).toBe(0);
});

test("a watchdog that was killed or hangs is replaced", async () => {
  await using stage = await startRunner(holding(gate()), {
    location: await databases.location(),
    nodeName: "a",
    fleet: FLEET,
    limits: LIMITS,
  });
  const { nodeId } = stage.runner.status;
  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    await expect.poll(() => watchdogOf(nodeId)).toBeDefined();
    const pid = watchdogOf(nodeId) ?? 0;
    process.kill(pid, signal);
    await expect.poll(() => [undefined, pid].includes(watchdogOf(nodeId))).toBe(false);
  }
  await stage.runner.close();
  await expect.poll(() => watchdogOf(nodeId)).toBeUndefined();
});

/** Starts a node in a separate process, with a running turn that waits. */
async function startHeldNode(open: ReturnType<typeof gate>): Promise<
  AsyncDisposable & {
    daemon: ChildProcess;
    session: TestSession;
    database: Database;
    codex: number;
    keeper: number;
    nodeId: string;
  }
> {
  await using made = new AsyncDisposableStack();
  const location = await databases.location();
  // Only the folders and the model are used: this runner is closed before the other one starts.
  const stage = made.use(
    await startRunner(holding(open), { location, nodeName: "a", fleet: FLEET, limits: LIMITS }),
  );
  const session = await stage.create();
  await stage.runner.close();
  const { codex: { env = {} } = {}, stateFolder, userCodexHome } = stage.options;
  const settings = {
    sessionId: session.id,
    stateFolder,
    store: location,
    userCodexHome,
    env,
    limits: LIMITS,
    nodeName: "a",
    fleet: FLEET,
  };
  const program = join(import.meta.dirname, "./runner-program.ts");
  const daemon = spawn(
    process.execPath,
    ["--conditions=codexkit:source", program, JSON.stringify(settings)],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  made.defer(async () => {
    if (daemon.exitCode === null && daemon.signalCode === null) {
      daemon.kill("SIGKILL");
      await once(daemon, "exit");
    }
    const [server] = await stage.database.appServers.list("a");
    await expect.poll(() => hasEnded(server?.pid ?? 0)).toBe(true);
  });
  await session.send("hold");
  await session.event(isDelta);
  const { database } = stage;
  const [server] = await database.appServers.list("a");
  const codex = server?.pid ?? 0;
  const keeper = parentOf(codex);
  const node = (await database.nodes.list()).find(({ isAlive }) => isAlive);
  const owner = made.move();
  return {
    daemon,
    session,
    database,
    codex,
    keeper,
    nodeId: node?.id ?? "",
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

test("the watchdog stops the app-servers of a daemon that hangs, and continues them when the daemon resumes", async () => {
  const open = gate();
  await using held = await startHeldNode(open);
  held.daemon.kill("SIGSTOP");
  await expect.poll(() => processState(held.codex)).toBe("T");
  open.open();
  held.daemon.kill("SIGCONT");
  await held.session.event(({ type }) => type === "turn.completed");
  expect(textsOf(await held.session.events(), "agentMessage")).toEqual(["half done"]);
});

test("a daemon that hung while its session was taken over kills its app-server when it resumes", async () => {
  await using held = await startHeldNode(gate());
  held.daemon.kill("SIGSTOP");
  await expect.poll(() => processState(held.codex)).toBe("T");
  expect(await takeOver(held.database, held.nodeId)).toBe(1);
  held.daemon.kill("SIGCONT");
  await expect.poll(() => hasEnded(held.codex)).toBe(true);
  const events = await held.session.events();
  expect(events.at(-1)).toMatchObject({ type: "session.moved", to: "b" });
});

test("if the daemon and the keeper of its app-server are killed, the watchdog kills the app-server", async () => {
  await using held = await startHeldNode(gate());
  process.kill(held.keeper, "SIGKILL");
  held.daemon.kill("SIGKILL");
  await expect.poll(() => hasEnded(held.codex)).toBe(true);
  await expect.poll(() => watchdogOf(held.nodeId)).toBeUndefined();
});

test("if the daemon and its watchdog are killed, the keeper ends the app-server", async () => {
  await using held = await startHeldNode(gate());
  process.kill(watchdogOf(held.nodeId) ?? 0, "SIGKILL");
  held.daemon.kill("SIGKILL");
  await expect.poll(() => hasEnded(held.codex)).toBe(true);
});

test("an app-server that is stopped when its daemon dies is killed immediately", async () => {
  await using held = await startHeldNode(gate());
  held.daemon.kill("SIGSTOP");
  await expect.poll(() => processState(held.codex)).toBe("T");
  held.daemon.kill("SIGKILL");
  await expect.poll(() => hasEnded(held.codex)).toBe(true);
});
