import { createSignal, type JSX, onCleanup, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { formatBytes, ProblemText } from "../ui/index.ts";
import { FixedRows } from "./fixed-rows.tsx";
import { TextWindow } from "./text-window.ts";

const CHUNK = 256 * 1024;
/** Maximum size of one window. Larger files are read in parts. */
const MAX_WINDOW = 16 * 1024 * 1024;
const ROW_HEIGHT = 20;

/** A text file, which is read in ranges while it is scrolled. */
export function TextViewer(props: {
  readonly sessionId: string;
  readonly path: string;
  readonly size: number;
}): JSX.Element {
  const { client } = useDaemon();
  const controller = new AbortController();
  onCleanup(() => controller.abort());
  const [view, setView] = createSignal(new TextWindow(), { equals: false });
  const [place, setPlace] = createSignal<{ readonly at: "top" | "end" }>();
  const [problem, setProblem] = createSignal<string>();
  let isReading = false;

  const isComplete = (): boolean => view().end >= props.size;
  const isFull = (): boolean => view().end - view().start >= MAX_WINDOW;

  const readOn = async (): Promise<void> => {
    if (isReading || isComplete() || isFull()) return;
    isReading = true;
    const current = view();
    try {
      const { bytes, size } = await client.files(props.sessionId).read(props.path, {
        start: current.end,
        end: Math.min(current.end + CHUNK, props.size),
        signal: controller.signal,
      });
      current.append(bytes, current.end + bytes.byteLength >= Math.min(size, props.size));
      if (view() === current) setView(current);
    } catch (error) {
      if (!controller.signal.aborted) setProblem(explainError(error));
    }
    isReading = false;
  };

  /** Shows the file from a byte, or the end of that part. */
  const startAt = (start: number, at: "top" | "end" = "top"): void => {
    setPlace({ at });
    setView(new TextWindow(Math.max(0, start)));
    void readOn();
  };

  void readOn();
  return (
    <div class="text-viewer">
      <ProblemText text={problem()} />
      <Show when={!view().isBinary} fallback={<p class="muted files-note">The file is not text.</p>}>
        <FixedRows
          count={view().lines.length}
          rowHeight={ROW_HEIGHT}
          label={`Contents of ${props.path}`}
          onEnd={() => void readOn()}
          start={place()}
        >
          {(index) => (
            <div class="text-row">
              <span class="text-number" aria-hidden="true">
                {view().lines[index]?.number}
              </span>
              <span class="text-line">{view().lines[index]?.text}</span>
            </div>
          )}
        </FixedRows>
      </Show>
      <div class="text-footer muted">
        <span>
          {isComplete() && view().start === 0
            ? `${view().lines.length} lines`
            : `Bytes ${formatBytes(view().start)} to ${formatBytes(view().end)} of ${formatBytes(props.size)}`}
        </span>
        <Show when={view().start > 0}>
          <button type="button" class="button" onClick={() => startAt(0)}>
            From the beginning
          </button>
        </Show>
        <Show when={isFull() && !isComplete()}>
          <button type="button" class="button" onClick={() => startAt(view().end - CHUNK)}>
            Next part
          </button>
        </Show>
        <Show when={!isComplete() && props.size > 2 * CHUNK}>
          <button type="button" class="button" onClick={() => startAt(props.size - CHUNK, "end")}>
            To the end
          </button>
        </Show>
      </div>
    </div>
  );
}
