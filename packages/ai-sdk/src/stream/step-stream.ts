import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Next, TurnRun } from "../session/turn-run.ts";
import { isTurnEnd } from "./is-turn-end.ts";

type Part = LanguageModelV4StreamPart;

export interface StepStreamOptions {
  readonly run: TurnRun;
  /** What the stream begins with. */
  readonly opening: readonly Part[];
  readonly includeRaw: boolean;
  readonly signal: AbortSignal | undefined;
  /** The turn waits for its client. */
  readonly onAsks: () => void;
  /** The turn is over, or its reader left. */
  readonly onEnd: () => void;
}

/** One step of a turn: from here to its end, or to where it waits for its client. A reader that is slow holds up nobody. */
export function stepStream(options: StepStreamOptions): ReadableStream<Part> {
  const { run, opening, includeRaw, signal, onAsks, onEnd } = options;
  let isLeft = false;
  const onAbort = (): void => run.interrupt();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const end = (then: () => void): void => {
    signal?.removeEventListener("abort", onAbort);
    then();
  };
  return new ReadableStream<Part>({
    start(controller) {
      for (const part of opening) controller.enqueue(part);
    },
    async pull(controller) {
      for (;;) {
        const next = await run.next();
        if (isLeft) return;
        const parts = partsOf(next, run, includeRaw);
        for (const part of parts) controller.enqueue(part);
        if (isLast(next)) {
          if (next.type !== "asks") run.end();
          end(next.type === "asks" ? onAsks : onEnd);
          controller.close();
          return;
        }
        if (parts.length > 0) return;
      }
    },
    cancel() {
      isLeft = true;
      run.interrupt();
      run.end();
      end(onEnd);
    },
  });
}

function partsOf(next: Next, run: TurnRun, includeRaw: boolean): Part[] {
  if (next.type === "asks") return run.parts.asks(next.asks);
  if (next.type === "over") return run.parts.lost(run.isInterrupted);
  const { event } = next;
  const raw: Part[] = includeRaw ? [{ type: "raw", rawValue: "raw" in event ? event.raw : event }] : [];
  return [...raw, ...(isTurnEnd(event) ? run.parts.end(event) : run.parts.event(event))];
}

function isLast(next: Next): boolean {
  return next.type !== "event" || isTurnEnd(next.event);
}
