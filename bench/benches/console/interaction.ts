import { setTimeout as delay } from "node:timers/promises";
import type { FakeSession } from "../../../packages/console/test/rig/fake-session.ts";
import { percentile } from "../../statistics.ts";
import type { ConsoleBench, Page } from "./open-console.ts";
import { measureBusyTime, untilApplied } from "./page-probe.ts";

const KEYS = 80;
const IDLE_MS = 3000;
const RUNNING_SESSIONS = 10;
const SUSPENDED_MS = 3000;

/** A session with more items than the page mounts. */
async function createHistory({ daemon }: ConsoleBench, turns: number): Promise<FakeSession> {
  const session = await daemon.createSession("A history");
  for (let turn = 0; turn < turns; turn += 1) {
    await session.exchange(
      `Question ${turn}`,
      `Answer ${turn}.\n\n\`\`\`ts\n${`const a = ${turn};\n`.repeat((turn % 7) + 1)}\`\`\`\n\nThe end.`,
    );
  }
  return session;
}

/**
 * The largest distance in pixels by which the visible text moves: while a message is written below it, while
 * older items are loaded above it, and while the user is not scrolling.
 */
export async function measureJumps(bench: ConsoleBench): Promise<{ readonly distance: number }> {
  const session = await createHistory(bench, 150);
  await using page = await bench.open(`/s/${session.id}`);
  const log = page.getByRole("log");
  await log.getByText("Answer 149.").waitFor();
  await log.hover();
  let largest = 0;
  for (const distance of [-1500, -3000, -6000]) {
    await page.mouse.wheel(0, distance);
    // Wait until the scrolling caused by the wheel has ended.
    await delay(500);
    await page.evaluate(`(() => {
      const list = document.querySelector('[role="log"]');
      const { top } = list.getBoundingClientRect();
      const row = [...list.querySelectorAll(".virtual-row")].find((each) => each.getBoundingClientRect().top > top + 50);
      const start = row.getBoundingClientRect().top;
      globalThis.jumpProbe = { largest: 0, isRunning: true };
      const tick = () => {
        const moved = row.isConnected ? Math.abs(row.getBoundingClientRect().top - start) : 1000;
        jumpProbe.largest = Math.max(jumpProbe.largest, Math.round(moved));
        if (jumpProbe.isRunning) requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    })()`);
    const turn = await session.startTurn("More");
    await turn.say(...Array.from({ length: 60 }, (_, index) => `Paragraph ${index}.\n\n`));
    await turn.complete();
    await untilApplied(page, await bench.daemon.lastSeq(session));
    await delay(300);
    const moved = (await page.evaluate(`(jumpProbe.isRunning = false, jumpProbe.largest)`)) as number;
    largest = Math.max(largest, moved);
  }
  return { distance: largest };
}

/**
 * Types while a message is written. Measures how long a key takes to be drawn, and how much typing changes in
 * the transcript.
 */
export async function typeDuringStream(bench: ConsoleBench) {
  const session = await createHistory(bench, 10);
  await using page = await bench.open(`/s/${session.id}`);
  await page.getByRole("log").getByText("Answer 9.").waitFor();
  const composer = page.locator("textarea:enabled").first();
  await composer.focus();
  await page.evaluate(`(() => {
    globalThis.typing = { durations: [], mutations: 0 };
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (name === "keydown") typing.durations.push(duration);
    }).observe({ type: "event", durationThreshold: 16 });
    new MutationObserver((list) => { typing.mutations += list.length; }).observe(
      document.querySelector('[role="log"]'),
      { subtree: true, childList: true, characterData: true, attributes: true },
    );
  })()`);
  // By then, visible code has been highlighted.
  await delay(1000);
  await page.evaluate(`(typing.mutations = 0, typing.durations.length = 0)`);
  await type(page, KEYS / 4);
  const mutations = (await page.evaluate(`typing.mutations`)) as number;
  await page.evaluate(`typing.durations.length = 0`);
  const turn = await session.startTurn("Write");
  const message = await turn.beginMessage();
  const typed = new AbortController();
  const writing = (async () => {
    for (let at = 0; !typed.signal.aborted; at += 1) {
      await message.write(Array.from({ length: 10 }, () => `word${at} `));
      await delay(20);
    }
  })();
  await type(page, KEYS);
  typed.abort();
  await writing;
  const durations = (await page.evaluate(`typing.durations`)) as number[];
  // Shorter events are not reported.
  const unreported = Array.from({ length: Math.max(0, KEYS - durations.length) }, () => 16);
  return { key: percentile([...durations, ...unreported], 0.98), mutations };
}

async function type(page: Page, keys: number): Promise<void> {
  for (let key = 0; key < keys; key += 1) {
    await page.keyboard.press("x");
    await delay(25);
  }
}

/**
 * The share of time for which the main thread of a page is busy while nothing happens in its ten running
 * sessions.
 */
export async function measureIdle(bench: ConsoleBench): Promise<{ readonly busy: number }> {
  for (let index = 0; index < RUNNING_SESSIONS; index += 1) {
    const session = await bench.daemon.createSession(`Running ${index}`);
    const turn = await session.startTurn("Work");
    await turn.run("npm test", "ok");
  }
  const session = await bench.daemon.createSession("On screen");
  const turn = await session.startTurn("Work");
  await turn.say("Working on it.");
  await using page = await bench.open(`/s/${session.id}`);
  await page.getByRole("log").getByText("Working on it.").waitFor();
  await delay(1000);
  const busy = await measureBusyTime(page, async () => delay(IDLE_MS));
  return { busy: (100 * busy) / IDLE_MS };
}

/** Time until a page shows what it missed while its process was stopped and its connection was closed. */
export async function measureWake(bench: ConsoleBench): Promise<number> {
  const { daemon } = bench;
  const session = await daemon.createSession("Suspended");
  const turn = await session.startTurn("Work");
  const others = new Set(await bench.rendererIds());
  await using page = await bench.open(`/s/${session.id}`);
  await page.getByRole("log").getByText("Work").first().waitFor();
  const own = (await bench.rendererIds()).filter((id) => !others.has(id));
  if (own.length === 0) throw new Error("The page has no process of its own.");
  let start = 0;
  let seq = 0;
  try {
    for (const id of own) process.kill(id, "SIGSTOP");
    daemon.faults.closeStreams();
    await turn.say("This happened meanwhile.");
    await delay(SUSPENDED_MS);
    seq = await daemon.lastSeq(session);
  } finally {
    start = performance.now();
    for (const id of own) process.kill(id, "SIGCONT");
  }
  await untilApplied(page, seq);
  return performance.now() - start;
}
