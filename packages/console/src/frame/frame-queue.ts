type Work = () => void;

/** Maximum number of rounds per frame. Work that keeps adding work continues in the next frame instead of blocking this one. */
const ROUNDS = 4;

let queue = new Set<Work>();
let later = new Set<Work>();
let frame: number | undefined;

/**
 * Runs work once, right before the next frame is rendered. All changes of the page then happen together, and the browser lays the
 * page out once. Work that is added by such work runs in the same frame. A hidden page renders no frames, so its work runs
 * immediately.
 */
export function beforePaint(work: Work): void {
  queue.add(work);
  schedule();
}

/** Runs work before the frame that follows the next one. */
export function beforeNextPaint(work: Work): void {
  later.add(work);
  schedule();
}

export function cancelBeforePaint(work: Work): void {
  queue.delete(work);
  later.delete(work);
}

function schedule(): void {
  if (frame !== undefined) return;
  if (document.hidden) {
    // Until the run starts, more work can be added to it.
    frame = -1;
    queueMicrotask(run);
  } else frame = requestAnimationFrame(run);
}

function run(): void {
  // Work that is added from here on is part of this run.
  frame ??= -1;
  for (let round = 0; round < ROUNDS && queue.size > 0; round += 1) {
    const current = queue;
    queue = new Set();
    for (const work of current) {
      try {
        work();
      } catch (error) {
        // The other work is not affected.
        reportError(error);
      }
    }
  }
  frame = undefined;
  for (const work of later) queue.add(work);
  later = new Set();
  if (queue.size > 0) schedule();
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden || frame === undefined || frame === -1) return;
  cancelAnimationFrame(frame);
  frame = -1;
  queueMicrotask(run);
});
