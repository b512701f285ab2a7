import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { isTurnEnd } from "codexkit";
import { CodexModelError } from "../errors.ts";
import type { Next, TurnRun } from "./turn-run.ts";
import type { StampedStep } from "../transcript/stamp.ts";
import type { RecordedStep } from "../transcript/step-recorder.ts";

type Part = LanguageModelV4StreamPart;

export interface StepStreamOptions {
  readonly run: TurnRun;
  /** The first parts of the stream. */
  readonly opening: readonly Part[];
  readonly includeRaw: boolean;
  readonly signal: AbortSignal | undefined;
  /** Records the parts that the client receives. */
  readonly step: StampedStep;
  /** Called at the end of the step, with its output and whether the turn has completed. */
  readonly onRecorded: (step: RecordedStep, isComplete: boolean) => void;
  /** Called when the turn starts to wait for its client. */
  readonly onRequests: () => void;
  /** Called when the turn has ended or the reader has cancelled the stream. */
  readonly onEnd: () => void;
}

/** Streams a step of a turn until the turn ends or waits for its client. A slow reader does not delay other streams. */
export function stepStream(options: StepStreamOptions): ReadableStream<Part> {
  const { run, opening, includeRaw, signal, step, onRecorded, onRequests, onEnd } = options;
  let isCancelled = false;
  let isDone = false;
  const onAbort = (): void => run.interrupt();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const end = (then: () => void): void => {
    signal?.removeEventListener("abort", onAbort);
    then();
  };
  return new ReadableStream<Part>({
    start(controller) {
      for (const part of opening) controller.enqueue(step.add(part));
    },
    async pull(controller) {
      for (;;) {
        const next = await run.next();
        if (isCancelled) return;
        const isUnfinished = next.type !== "requests" && isLast(next) && !isCompletion(next);
        if (isUnfinished) step.recorder.dropOpenTexts();
        const parts = partsOf(next, run, { includeRaw, signal });
        for (const part of parts) {
          if (part.type === "response-metadata" && part.modelId !== undefined) run.modelId = part.modelId;
          controller.enqueue(step.add(part));
        }
        if (isLast(next)) {
          if (next.type !== "requests") run.end();
          onRecorded(step.recorder.finish(), isCompletion(next));
          isDone = true;
          end(next.type === "requests" ? onRequests : onEnd);
          // The last part is already readable. Don't wait for a turn that never reports its end.
          if (next.type === "event") await run.cleanedUp;
          if (!isCancelled) controller.close();
          return;
        }
        if (parts.length > 0) return;
      }
    },
    cancel() {
      isCancelled = true;
      if (isDone) return;
      step.recorder.dropOpenTexts();
      onRecorded(step.recorder.finish(), false);
      run.interrupt();
      run.end();
      end(onEnd);
    },
  });
}

function partsOf(
  next: Next,
  run: TurnRun,
  { includeRaw, signal }: Pick<StepStreamOptions, "includeRaw" | "signal">,
): Part[] {
  if (next.type === "requests") return run.parts.requests(next.requests);
  const closed = closedReason(signal);
  if (next.type === "over") return run.parts.lost(run.isInterrupted, closed);
  const { event } = next;
  const raw: Part[] = includeRaw ? [{ type: "raw", rawValue: "raw" in event ? event.raw : event }] : [];
  if (!isTurnEnd(event)) return [...raw, ...run.parts.event(event)];
  const isCut = closed !== undefined && event.type !== "turn.completed";
  return [...raw, ...(isCut ? run.parts.lost(true, closed) : run.parts.end(event))];
}

/** Set if the call was aborted because the provider was closed. */
function closedReason(signal: AbortSignal | undefined): CodexModelError | undefined {
  const reason: unknown = signal?.aborted ? signal.reason : undefined;
  return CodexModelError.isInstance(reason) ? reason : undefined;
}

function isLast(next: Next): boolean {
  return next.type !== "event" || isTurnEnd(next.event);
}

function isCompletion(next: Next): boolean {
  return next.type === "event" && next.event.type === "turn.completed";
}
