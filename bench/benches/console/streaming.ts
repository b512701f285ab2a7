import { setTimeout as delay } from "node:timers/promises";
import type { FakeMessage, FakeSession, FakeTurn } from "../../../packages/console/test/rig/fake-session.ts";
import { percentile } from "../../statistics.ts";
import { openFloor } from "./floor-page.ts";
import type { ConsoleBench, Page } from "./open-console.ts";
import { countFrames, measureBusyTime, recordFrames, type Recording, untilApplied } from "./page-probe.ts";

/** The console, or the bare page. */
export type Contestant = "console" | "floor";

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
/** A slow stream of 50 writes per second. */
const WRITE_MS = 20;

/** Exactly `DELTAS` pieces. */
function splitAnswer(): string[] {
  return Array.from({ length: DELTAS }, (_, index) =>
    ANSWER.slice(
      Math.floor((index * ANSWER.length) / DELTAS),
      Math.floor(((index + 1) * ANSWER.length) / DELTAS),
    ),
  );
}

/** Opens a page that shows a message while it is written. */
async function openStream(
  bench: ConsoleBench,
  contestant: Contestant,
): Promise<{ readonly page: Page; readonly session: FakeSession; readonly message: FakeMessage }> {
  const session = await bench.daemon.createSession("A stream");
  const turn = await session.startTurn("Write a lot");
  const message = await turn.beginMessage();
  return { page: await openSession(bench, contestant, session, "Write a lot"), session, message };
}

async function openSession(
  bench: ConsoleBench,
  contestant: Contestant,
  session: FakeSession,
  text: string,
  history: readonly string[] = [],
): Promise<Page> {
  if (contestant === "floor") return openFloor(bench, session, history);
  const page = await bench.open(`/s/${session.id}`);
  await page.getByRole("log").getByText(text).first().waitFor();
  return page;
}

function frameSample(recording: Recording) {
  const counts = countFrames(recording);
  return {
    "slow frames": (100 * counts.slowFrames) / Math.max(1, counts.frames),
    "long tasks": counts.longTasks,
  };
}

/** Appends all deltas in a few transactions. */
export async function streamAtOnce(bench: ConsoleBench, contestant: Contestant) {
  const { page, session, message } = await openStream(bench, contestant);
  await using _ = page;
  const recording = await recordFrames(page, async () => {
    await message.write(splitAnswer());
    return bench.daemon.lastSeq(session);
  });
  return frameSample(recording);
}

/** Appends the same deltas over five seconds. */
export async function streamSteadily(bench: ConsoleBench, contestant: Contestant) {
  const { page, session, message } = await openStream(bench, contestant);
  await using _ = page;
  const deltas = splitAnswer();
  const perWrite = (deltas.length * WRITE_MS) / 5000;
  const recording = await recordFrames(page, async () => {
    const start = performance.now();
    for (let at = 0; at < deltas.length; at += perWrite) {
      await message.write(deltas.slice(at, at + perWrite));
      await delay(Math.max(0, start + ((at + perWrite) / perWrite) * WRITE_MS - performance.now()));
    }
    return bench.daemon.lastSeq(session);
  });
  return frameSample(recording);
}

/** 95th percentile of the milliseconds from the write of a delta to the frame after the one that shows it. */
export async function measureLatency(bench: ConsoleBench, contestant: Contestant): Promise<number> {
  const { page, session, message } = await openStream(bench, contestant);
  await using _ = page;
  const written: { readonly seq: number; readonly at: number }[] = [];
  const { frames } = await recordFrames(page, async () => {
    let seq = await bench.daemon.lastSeq(session);
    for (let index = 0; index < 150; index += 1) {
      seq += 1;
      written.push({ seq, at: Date.now() });
      await message.write([`word${index} `]);
      await delay(WRITE_MS);
    }
    return seq;
  });
  const latencies = written.map(({ seq, at }) => {
    const shown = frames.find((frame) => frame.seq >= seq);
    return shown ? Math.max(0, shown.at - at) : Number.NaN;
  });
  return percentile(latencies, 0.95);
}

/** CPU time of the main thread for one message at the end of 20 code blocks. */
export async function appendToHistory(bench: ConsoleBench, contestant: Contestant): Promise<number> {
  const session = await bench.daemon.createSession("Code");
  const history = Array.from({ length: 20 }, () => FENCE);
  for (const [index, text] of history.entries()) await session.exchange(`Question ${index}`, text);
  const turn = await session.startTurn("One more");
  await using page = await openSession(bench, contestant, session, "One more", history);
  // The first message loads code that later ones need too.
  await appendAndWait(bench, page, session, turn);
  return await measureBusyTime(page, async () => {
    await turn.say("Appended.");
    await delay(SETTLE_MS);
  });
}

async function appendAndWait(
  bench: ConsoleBench,
  page: Page,
  session: FakeSession,
  turn: FakeTurn,
): Promise<void> {
  await turn.say("Warmed up.");
  const seq = await bench.daemon.lastSeq(session);
  await untilApplied(page, seq);
  await delay(SETTLE_MS);
}
