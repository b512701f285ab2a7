import type { Page } from "./open-console.ts";

/** Frames and long tasks of a page between two moments. */
export interface FrameCounts {
  readonly frames: number;
  readonly slowFrames: number;
  readonly longTasks: number;
}

/** A frame takes 16.7 ms. */
const SLOW_FRAME_MS = 25;
/** Frames per idle second below which the browser does not draw at all, so that gaps would be meaningless. */
const LEAST_FRAMES = 55;
/** Number of idle seconds to try before the machine counts as too busy. */
const IDLE_SECONDS = 5;

/**
 * Records each frame of a page: when it began, and which event the page had applied. Runs in the page,
 * because a driver that searches for text takes more time of each frame than the page itself.
 */
// A string, because the benchmarks use the types of Node, not those of browsers.
const PROBE = `(() => {
  const probe = { frames: [], longTasks: [], waiting: [], isRunning: true };
  globalThis.frameProbe = probe;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) probe.longTasks.push(duration);
  }).observe({ type: "longtask" });
  const tick = (now) => {
    const seq = Number(document.querySelector("[data-seq]")?.dataset.seq ?? 0);
    probe.frames.push({ now, at: performance.timeOrigin + performance.now(), seq });
    probe.waiting = probe.waiting.filter(({ target, resolve }) => {
      if (seq >= target) resolve();
      return seq < target;
    });
    if (probe.isRunning) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()`;

interface Frame {
  /** By the page's clock. */
  readonly now: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The newest event that the previous frame showed. */
  readonly seq: number;
}

export interface Recording {
  readonly frames: readonly Frame[];
  readonly longTasks: readonly number[];
}

/** Records frames from the beginning of the work until the page shows the event that the work returns. */
export async function recordFrames(page: Page, work: () => Promise<number>): Promise<Recording> {
  await page.evaluate(PROBE);
  await untilIdle(page);
  const seq = await work();
  await untilShown(page, seq);
  return (await page.evaluate(`(() => {
    frameProbe.isRunning = false;
    return { frames: frameProbe.frames, longTasks: frameProbe.longTasks };
  })()`)) as Recording;
}

/** Waits for the frame after the one that showed an event. Call `recordFrames` first. */
async function untilShown(page: Page, seq: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => { frameProbe.waiting.push({ target: ${seq}, resolve }); })`);
}

/** Waits for a second with all frames. Rejects if the page draws too few when it is idle. */
async function untilIdle(page: Page): Promise<void> {
  let idle = 0;
  for (let second = 0; second < IDLE_SECONDS; second += 1) {
    idle = (await page.evaluate(`new Promise((resolve) => {
      const before = frameProbe.frames.length;
      setTimeout(() => {
        resolve(frameProbe.frames.length - before);
        frameProbe.frames = frameProbe.frames.slice(-1);
        frameProbe.longTasks = [];
      }, 1000);
    })`)) as number;
    if (idle >= LEAST_FRAMES) return;
  }
  throw new Error(`The idle page drew ${idle} frames per second. Is the machine busy?`);
}

export function countFrames({ frames, longTasks }: Recording): FrameCounts {
  const gaps = frames.slice(1).map(({ now }, index) => now - (frames[index]?.now ?? now));
  return {
    frames: gaps.length,
    slowFrames: gaps.filter((gap) => gap > SLOW_FRAME_MS).length,
    longTasks: longTasks.length,
  };
}

/** Waits until the page has applied an event. */
export async function untilApplied(page: Page, seq: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      if (Number(document.querySelector("[data-seq]")?.dataset.seq) >= ${seq}) resolve();
      else setTimeout(look, 20);
    };
    look();
  })`);
}

/** CPU milliseconds of the main thread during work, which must not poll the page. */
export async function measureBusyTime(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busySeconds = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
  const before = await busySeconds();
  await work();
  const busy = (await busySeconds()) - before;
  await session.detach();
  return busy * 1000;
}

/** Bytes of the JavaScript heap of the page after a garbage collection. The heap of its worker is not included. */
export async function measureHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}
