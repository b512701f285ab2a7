import type { Page } from "./open-console.ts";

/** Frames and long tasks of a page between two moments. */
export interface FrameCounts {
  readonly frames: number;
  readonly slowFrames: number;
  readonly longTasks: number;
}

/** A frame takes 16.7 ms. */
const SLOW_FRAME_MS = 25;
/** Frames of an idle second below which the browser does not draw at all, so that no gap would mean anything. */
const LEAST_FRAMES = 50;

/** Runs work while the gaps between frames are recorded. Rejects if the page draws no frames when it is idle. */
export async function countFrames(page: Page, work: () => Promise<void>): Promise<FrameCounts> {
  // Strings, because the types of the benchmarks are those of Node.
  await page.evaluate(`(() => {
    const probe = { gaps: [], longTasks: 0, isRunning: true };
    globalThis.frameProbe = probe;
    new PerformanceObserver((list) => { probe.longTasks += list.getEntries().length; }).observe({ type: "longtask" });
    let last = performance.now();
    const tick = (now) => {
      probe.gaps.push(now - last);
      last = now;
      if (probe.isRunning) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  })()`);
  const idle = (await page.evaluate(`new Promise((resolve) => {
    const before = frameProbe.gaps.length;
    setTimeout(() => {
      resolve(frameProbe.gaps.length - before);
      frameProbe.gaps = [];
      frameProbe.longTasks = 0;
    }, 1000);
  })`)) as number;
  if (idle < LEAST_FRAMES)
    throw new Error(`The idle page drew ${idle} frames per second. Is the machine busy?`);
  await work();
  return (await page.evaluate(`(() => {
    frameProbe.isRunning = false;
    const { gaps, longTasks } = frameProbe;
    return { frames: gaps.length, slowFrames: gaps.filter((gap) => gap > ${SLOW_FRAME_MS}).length, longTasks };
  })()`)) as FrameCounts;
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
