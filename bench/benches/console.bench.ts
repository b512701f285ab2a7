import { staticFiles } from "@codexkit/console";
import { setTimeout as delay } from "node:timers/promises";
import { measure as measureBuild } from "../../packages/console/scripts/size-budget.ts";
import { defineBench } from "../define-bench.ts";
import { type ConsoleBench, fillSession, LAST_ANSWER, openConsole } from "./console/open-console.ts";
import { countFrames, measureBusyTime, measureHeap } from "./console/page-probe.ts";
import type { PageSize } from "./console/page-size.ts";
import { measurePeer, type PeerName } from "./console/peers.ts";

const DELTAS = 5000;
/** Six code blocks among text, 25 KB in all. */
const ANSWER = Array.from({ length: 6 }, (_, index) =>
  [
    `## Part ${index}\n\n`,
    "Some *emphasised* text with `code` and a [link](https://example.com). ".repeat(30),
    "\n\n```ts\n",
    "export function add(a: number, b: number): number {\n  return a + b;\n}\n".repeat(28),
    "```\n\n",
  ].join(""),
).join("");
const FENCE = `\`\`\`ts\n${"const value = compute({ retries: 3, name: 'x' }); // line\n".repeat(50)}\`\`\`\n`;
/** Long enough for the page to draw what was appended. */
const SETTLE_MS = 500;
const SIZE = { scripts: "KB", styles: "KB" } as const;

/** Page sizes don't vary between rounds, and a download per round would take minutes. */
const peerSizes = new Map<PeerName, Promise<PageSize>>();
async function sizeOf(name: PeerName, signal: AbortSignal): Promise<PageSize> {
  const size = peerSizes.get(name) ?? measurePeer(name, signal);
  peerSizes.set(name, size);
  return size;
}

/** The built console in Chromium, at the daemon's API without Codex. Build it first: `npm run build -w packages/console`. */
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
      measures: {
        "slow frames": { unit: "%", better: "lower" },
        "long tasks": { unit: "tasks", better: "lower" },
      },
      contestants: { ours: streamDeltas },
      bars: [
        { measure: "slow frames", atMost: 1 },
        { measure: "long tasks", atMost: 0 },
      ],
    }),
    row({
      name: "append to 20 code blocks of 50 lines",
      measures: "ms",
      contestants: { ours: appendToHistory },
      bars: [{ atMost: 8 }],
    }),
    row({
      name: "open a session of 100,000 events",
      measures: "ms",
      contestants: { ours: openLongSession },
      bars: [{ atMost: 500 }],
    }),
    row({
      name: "heap of the page after 100,000 events",
      measures: "MB",
      contestants: { ours: measureLongSession },
      bars: [{ atMost: 60 }],
    }),
  ],
});

async function streamDeltas({ daemon, open }: ConsoleBench) {
  const session = await daemon.createSession("A stream");
  const turn = await session.startTurn("Write a lot");
  const message = await turn.beginMessage();
  await using page = await open(`/s/${session.id}`);
  await page.getByRole("log").getByText("Write a lot").first().waitFor();
  const length = Math.ceil(ANSWER.length / DELTAS);
  const deltas = Array.from({ length: DELTAS }, (_, index) =>
    ANSWER.slice(index * length, (index + 1) * length),
  );
  const counts = await countFrames(page, async () => {
    await message.write([...deltas.filter((delta) => delta !== ""), "\n\nThe stream has ended."]);
    await page.getByRole("log").getByText("The stream has ended.").first().waitFor();
  });
  return {
    "slow frames": (100 * counts.slowFrames) / Math.max(1, counts.frames),
    "long tasks": counts.longTasks,
  };
}

async function appendToHistory({ daemon, open }: ConsoleBench): Promise<number> {
  const session = await daemon.createSession("Code");
  for (let index = 0; index < 20; index += 1) await session.exchange(`Question ${index}`, FENCE);
  const turn = await session.startTurn("One more");
  await using page = await open(`/s/${session.id}`);
  await page.getByRole("log").getByText("One more").first().waitFor();
  // The first one loads what later ones have.
  await turn.say("Warmed up.");
  await page.getByRole("log").getByText("Warmed up.").first().waitFor();
  const time = await measureBusyTime(page, async () => {
    await turn.say("Appended.");
    await delay(SETTLE_MS);
  });
  await page.getByRole("log").getByText("Appended.").first().waitFor();
  return time;
}

async function openLongSession({ longSession, open }: ConsoleBench): Promise<number> {
  await using page = await open("/sessions");
  const link = page.locator(`a[href$="/s/${longSession.id}"]`).first();
  await link.waitFor();
  // Measured in the page: the driver's own round trips take longer than the answer.
  return (await page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    const look = () => {
      if (document.querySelector('[role="log"]')?.textContent.includes(${JSON.stringify(LAST_ANSWER)})) {
        resolve(performance.now() - start);
      } else requestAnimationFrame(look);
    };
    document.querySelector('a[href$="/s/${longSession.id}"]').click();
    look();
  })`)) as number;
}

/** The page gets every event while it is open. */
async function measureLongSession({ daemon, open }: ConsoleBench): Promise<number> {
  const session = await daemon.createSession("A session that grows");
  await using page = await open(`/s/${session.id}`);
  await page.getByRole("log").waitFor();
  await fillSession(session);
  await page.getByRole("log").getByText(LAST_ANSWER).first().waitFor();
  const bytes = await measureHeap(page);
  return bytes / 1_000_000;
}
