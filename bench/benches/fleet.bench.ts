import { defineBench } from "../define-bench.ts";
import { appendFromAll } from "./fleet/append-from-all.ts";
import { commandTime, readLatency } from "./fleet/between-nodes.ts";
import { drainIdle, failOver } from "./fleet/failover.ts";
import { openFleet, type FleetOptions } from "./fleet/fleet.ts";
import { jobTime, workflowTime } from "./fleet/peers.ts";
import { readOnAllNodes } from "./fleet/readers.ts";
import { measureScale } from "./fleet/scale.ts";
import { setUp, type Context } from "./fleet/setup.ts";
import { measureStorage } from "./fleet/storage.ts";
import { runTurns } from "./fleet/turns.ts";
import { once } from "./turns/once.ts";

const SCALE = { claim: "ms", list: "ms", search: "ms", append: "ms" } as const;
const LARGE = 100_000;
const MEDIUM = 10_000;
const SMALL = 1_000;

/** All times shorter, so that a failover takes no half minute. */
const SHORT_LEASE = {
  leaseMs: 3_000,
  renewMs: 500,
  renewTimeoutMs: 400,
  freezeMs: 2_000,
  takeoverMs: 200,
} as const;

/**
 * Daemons on one Postgres, whose commits wait for the disk, in processes of their own: what they cost, how they reach each other, and
 * what happens when one of them ends. Two nodes, unless a row says otherwise.
 */
export default defineBench({
  name: "fleet",
  description:
    "1, 2 and 4 daemons on one Postgres: turns, appends, readers, commands, failover, and 100,000 stored sessions",
  rounds: 3,
  setup: setUp,
  rows: (row) => [
    row({
      name: "a turn in each of 200 sessions",
      measures: {
        turns: { unit: "turns/s", better: "higher" },
        cpu: { unit: "ms/turn", better: "lower" },
        "cpu of Postgres": { unit: "ms/turn", better: "lower" },
      },
      contestants: {
        ours: once((context, signal) => turnsOn(2, context, signal)),
        "1 node": once((context, signal) => turnsOn(1, context, signal)),
        "4 nodes": once((context, signal) => turnsOn(4, context, signal)),
        SQLite: once(async ({ model }, signal) => {
          await using fleet = await openFleet({ model, nodes: 1 });
          return await runTurns(fleet, [], signal);
        }),
      },
      bars: [
        { measure: "cpu", against: "1 node", atMost: 1.15 },
        { measure: "cpu", against: "SQLite", atMost: 1.5 },
        { of: "4 nodes", measure: "cpu", against: "1 node", atMost: 1.15 },
        { of: "4 nodes", measure: "cpu", against: "SQLite", atMost: 1.5 },
      ],
    }),
    row({
      name: "events appended by all nodes",
      measures: {
        throughput: "events/s",
        "stored p99": "ms",
        "cpu of Postgres": { unit: "ms/1,000 events", better: "lower" },
        WAL: { unit: "KB/1,000 events", better: "lower" },
      },
      contestants: {
        ours: async (context) => appendOn(2, context),
        "1 node": async (context) => appendOn(1, context),
        "4 nodes": async (context) => appendOn(4, context),
      },
      bars: (["ours", "1 node", "4 nodes"] as const).flatMap((of) => [
        { of, measure: "throughput" as const, atLeast: 20_000 },
        { of, measure: "stored p99" as const, atMost: 50 },
      ]),
    }),
    row({
      name: "an event reaches a reader on another node",
      measures: "ms",
      contestants: {
        ours: async ({ pair }) => readLatency(await pair(), "other"),
        "4 nodes": async ({ four }) => readLatency(await four(), "other"),
        "same node": async ({ pair }) => readLatency(await pair(), "owner"),
        // All nodes of a fleet wake up for a notification, and share the processors of this machine.
        "same node of 4": async ({ four }) => readLatency(await four(), "owner"),
      },
      bars: [
        { against: "same node", atMost: 1.5 },
        { of: "4 nodes", against: "same node of 4", atMost: 1.5 },
      ],
    }),
    row({
      name: "a command through another node",
      measures: "ms",
      contestants: {
        ours: async ({ pair }) => commandTime(await pair(), "other"),
        "4 nodes": async ({ four }) => commandTime(await four(), "other"),
        "same node": async ({ pair }) => commandTime(await pair(), "owner"),
      },
      bars: [{ atMost: 10 }, { of: "4 nodes", atMost: 10 }],
    }),
    // Ours is a command over HTTP whose outcome is an event of the session. The peers do less, and without HTTP.
    row({
      name: "a command, a job and a workflow",
      measures: "ms",
      contestants: {
        ours: async ({ pair }) => commandTime(await pair(), "owner"),
        "pg-boss": async ({ server }) => jobTime(await (await server()).createDatabase()),
        DBOS: async ({ server }) => workflowTime(await (await server()).createDatabase()),
      },
    }),
    row({
      name: "1,000 readers of one session on all nodes",
      measures: { completed: { unit: "readers", better: "higher" }, time: "ms" },
      contestants: {
        ours: once(async ({ fleet }) => {
          await using nodes = await fleet(2);
          return await readOnAllNodes(nodes);
        }),
        "1 node": once(async ({ fleet }) => {
          await using nodes = await fleet(1);
          return await readOnAllNodes(nodes);
        }),
        "4 nodes": once(async ({ fleet }) => {
          await using nodes = await fleet(4);
          return await readOnAllNodes(nodes);
        }),
      },
      bars: [
        { measure: "completed", atLeast: 1_000 },
        { of: "1 node", measure: "completed", atLeast: 1_000 },
        { of: "4 nodes", measure: "completed", atLeast: 1_000 },
      ],
    }),
    ...(["postgres", "sqlite"] as const).map((kind) =>
      row({
        name: `100,000 stored sessions, ${kind === "postgres" ? "Postgres" : "SQLite"}`,
        measures: SCALE,
        contestants: {
          ours: async ({ filled }) => measureScale(await filled(kind, LARGE)),
          "1,000": async ({ filled }) => measureScale(await filled(kind, SMALL)),
          "10,000": async ({ filled }) => measureScale(await filled(kind, MEDIUM)),
        },
        bars: (["claim", "list", "search", "append"] as const).map((measure) => ({
          measure,
          against: "1,000" as const,
          atMost: 1.5,
        })),
      }),
    ),
    row({
      name: "failover after kill -9, lease of 3 s",
      measures: "ms",
      contestants: {
        ours: (context) => failOverOf(2, context, { fleet: SHORT_LEASE }),
        "4 nodes": (context) => failOverOf(4, context, { fleet: SHORT_LEASE }),
      },
      bars: [{ atMost: 4_500 }, { of: "4 nodes", atMost: 4_500 }],
    }),
    row({
      name: "failover after kill -9, default lease of 30 s",
      measures: "ms",
      contestants: {
        ours: once((context) => failOverOf(2, context)),
        "4 nodes": once((context) => failOverOf(4, context)),
      },
      bars: [{ atMost: 31_500 }, { of: "4 nodes", atMost: 31_500 }],
    }),
    row({
      name: "drain of 200 idle sessions",
      measures: "ms",
      contestants: {
        ours: once(async ({ fleet }) => {
          await using nodes = await fleet(2);
          return await drainIdle(nodes);
        }),
      },
      bars: [{ atMost: 5_000 }],
    }),
    row({
      name: "written and kept per turn",
      measures: {
        WAL: "KB",
        rollout: "KB",
        "rollout compressed": "KB",
      },
      contestants: {
        ours: once((context) => storageOf(2, context)),
        "1 node": once((context) => storageOf(1, context)),
        "4 nodes": once((context) => storageOf(4, context)),
      },
    }),
  ],
});

async function turnsOn(nodes: number, { fleet, serverPid }: Context, signal: AbortSignal) {
  await using opened = await fleet(nodes);
  return await runTurns(opened, [await serverPid()], signal);
}

async function appendOn(nodes: number, { server, serverPid }: Context) {
  return appendFromAll(await server(), await serverPid(), nodes);
}

async function storageOf(nodes: number, { fleet }: Context) {
  await using opened = await fleet(nodes);
  return await measureStorage(opened, opened.location);
}

async function failOverOf(nodes: number, { fleet }: Context, limits?: FleetOptions["limits"]) {
  await using opened = await fleet(nodes, { ...(limits && { limits }) });
  return await failOver(opened);
}
