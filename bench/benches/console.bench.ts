import { staticFiles } from "@codexkit/console";
import { measure as measureBuild } from "../../packages/console/scripts/size-budget.ts";
import { defineBench } from "../define-bench.ts";
import { loadCold, measureLongSession, openLongSession } from "./console/history.ts";
import { measureIdle, measureJumps, measureWake, typeDuringStream } from "./console/interaction.ts";
import { lexIncrementally, lexWhole } from "./console/lexing.ts";
import { type ConsoleBench, openConsole } from "./console/open-console.ts";
import type { PageSize } from "./console/page-size.ts";
import { fillTerminal, openLargeDiff } from "./console/panels.ts";
import { measurePeer, type PeerName } from "./console/peers.ts";
import { appendToHistory, measureLatency, streamAtOnce, streamSteadily } from "./console/streaming.ts";

const SIZE = { scripts: "KB", styles: "KB" } as const;
const FRAMES = {
  "slow frames": { unit: "%", better: "lower" },
  "long tasks": { unit: "tasks", better: "lower" },
} as const;
const SMOOTH = [
  { measure: "slow frames", atMost: 1 },
  { measure: "long tasks", atMost: 0 },
] as const;
const LOAD = { "first row": "ms", composer: "ms" } as const;

/** Page sizes don't vary between rounds, and a download per round would take minutes. */
const peerSizes = new Map<PeerName, Promise<PageSize>>();
async function sizeOf(name: PeerName, signal: AbortSignal): Promise<PageSize> {
  const size = peerSizes.get(name) ?? measurePeer(name, signal);
  peerSizes.set(name, size);
  return size;
}

/**
 * The built console in Chromium, connected to the daemon's API without Codex. Build it first: `npm run build
 * -w packages/console`.
 */
export default defineBench({
  name: "console",
  description: "the web console: size, streaming, long histories, memory",
  rounds: 3,
  setup: openConsole,
  rows: (row) => [
    row({
      name: "scripts and styles of the first page, gzip",
      measures: SIZE,
      contestants: {
        ours: async () => {
          const { session, css } = measureBuild(staticFiles);
          return { scripts: session / 1000, styles: css / 1000 };
        },
        opencode: async (_: ConsoleBench, signal) => sizeOf("opencode", signal),
        hapi: async (_: ConsoleBench, signal) => sizeOf("hapi", signal),
        cloudcli: async (_: ConsoleBench, signal) => sizeOf("cloudcli", signal),
        "sandbox-agent": async (_: ConsoleBench, signal) => sizeOf("sandbox-agent", signal),
      },
      bars: [
        { measure: "scripts", atMost: 100 },
        { measure: "styles", atMost: 12 },
        { measure: "scripts", against: "cloudcli", atMost: 0.2 },
      ],
    }),
    row({
      name: "5,000 deltas at full speed",
      measures: FRAMES,
      contestants: {
        ours: async (bench) => streamAtOnce(bench, "console"),
        floor: async (bench) => streamAtOnce(bench, "floor"),
      },
      bars: SMOOTH,
    }),
    row({
      name: "5,000 deltas in five seconds",
      measures: FRAMES,
      contestants: {
        ours: async (bench) => streamSteadily(bench, "console"),
        floor: async (bench) => streamSteadily(bench, "floor"),
      },
      bars: SMOOTH,
    }),
    row({
      name: "write of a delta to the screen, p95",
      measures: "ms",
      contestants: {
        ours: async (bench) => measureLatency(bench, "console"),
        floor: async (bench) => measureLatency(bench, "floor"),
      },
      bars: [{ atMost: 50 }],
    }),
    row({
      name: "append to 20 code blocks of 50 lines",
      measures: "ms",
      contestants: {
        ours: async (bench) => appendToHistory(bench, "console"),
        floor: async (bench) => appendToHistory(bench, "floor"),
      },
      bars: [{ atMost: 8 }],
    }),
    row({
      name: "answer of 128 KB in 200 parts, split into blocks",
      measures: { time: "ms", "last to second quarter": { unit: "×", better: "lower" } },
      contestants: { ours: lexIncrementally, "whole text": lexWhole },
      bars: [
        { measure: "time", atMost: 60 },
        { measure: "last to second quarter", atMost: 1.5 },
      ],
    }),
    row({
      name: "open a session of 100,000 events",
      measures: { open: "ms", "open again": "ms" },
      contestants: { ours: openLongSession },
      bars: [
        { measure: "open", atMost: 500 },
        { measure: "open again", atMost: 100 },
      ],
    }),
    row({
      name: "heap of the page after 100,000 events",
      measures: "MB",
      contestants: { ours: measureLongSession },
      bars: [{ atMost: 60 }],
    }),
    row({
      name: "first load, session of 200 items",
      measures: LOAD,
      contestants: { ours: async (bench) => loadCold(bench, 1) },
      bars: [
        { measure: "first row", atMost: 400 },
        { measure: "composer", atMost: 600 },
      ],
    }),
    row({
      name: "first load, processor slowed down 4 times",
      measures: LOAD,
      contestants: { ours: async (bench) => loadCold(bench, 4) },
      bars: [{ measure: "composer", atMost: 1500 }],
    }),
    row({
      name: "movement of the text that is read",
      measures: { distance: { unit: "px", better: "lower" } },
      contestants: { ours: measureJumps },
      bars: [{ measure: "distance", atMost: 0 }],
    }),
    row({
      name: "typing 80 characters during a stream",
      measures: { key: "ms", mutations: { unit: "nodes", better: "lower" } },
      contestants: { ours: typeDuringStream },
      bars: [
        { measure: "key", atMost: 50 },
        { measure: "mutations", atMost: 0 },
      ],
    }),
    row({
      name: "change of 100,000 lines",
      measures: { "first lines": "ms", "longest task": "ms" },
      contestants: { ours: openLargeDiff },
      bars: [
        { measure: "first lines", atMost: 300 },
        { measure: "longest task", atMost: 100 },
      ],
    }),
    row({
      name: "main thread while ten sessions run",
      measures: { busy: { unit: "%", better: "lower" } },
      contestants: { ours: measureIdle },
      bars: [{ measure: "busy", atMost: 1 }],
    }),
    row({
      name: "wake of a page that was stopped",
      measures: "ms",
      contestants: { ours: measureWake },
      bars: [{ atMost: 1000 }],
    }),
    row({
      name: "terminal",
      measures: { "50,000 lines": "ms", echo: "ms" },
      contestants: { ours: fillTerminal },
      bars: [
        { measure: "50,000 lines", atMost: 3000 },
        { measure: "echo", atMost: 40 },
      ],
    }),
  ],
});
