import { createSignal, For, type JSX, onCleanup, onMount, Show } from "solid-js";
import { VisibleText } from "../ui/visible-text-view.tsx";

/** Longer runs of blank lines are replaced with their number, because they could move the rest out of view. */
const BLANK_RUN = /\n((?:[^\S\n]*\n){3,})/;
/** Approximate height of a line, for the number of lines that are out of view. */
const LINE = 20;

/** A text on which a person bases a decision. If it is long, it scrolls, and a button shows all of it. */
export function LongText(props: {
  readonly label: string;
  readonly text: string;
  readonly class?: string;
  /** Shown before the text. */
  readonly prompt?: JSX.Element;
  /** Called when the end of the text has been in view. */
  readonly onSeen?: (() => void) | undefined;
}) {
  const [hiddenLines, setHiddenLines] = createSignal(0);
  const [isWhole, setIsWhole] = createSignal(false);
  let box!: HTMLPreElement;

  function check(): void {
    const { scrollHeight, clientHeight, scrollTop } = box;
    const below = scrollHeight - clientHeight - scrollTop;
    setHiddenLines(below < 4 ? 0 : Math.ceil(below / LINE));
    if (below < 4 && clientHeight > 0) props.onSeen?.();
  }

  onMount(() => {
    const sizes = new ResizeObserver(check);
    sizes.observe(box);
    onCleanup(() => sizes.disconnect());
  });

  return (
    <>
      {/* What scrolls can be reached by the keyboard. */}
      <pre
        ref={box}
        class={props.class}
        classList={{ "approval-whole": isWhole() }}
        tabindex="0"
        role="group"
        aria-label={props.label}
        onScroll={check}
      >
        {props.prompt}
        <code>
          {/* The parts alternate between texts and runs of blank lines. */}
          <For each={props.text.split(BLANK_RUN)}>
            {(part, index) => (
              <Show when={index() % 2 === 1} fallback={<VisibleText text={part} />}>
                {"\n"}
                <span class="escape">… {part.split("\n").length - 1} blank lines</span>
                {"\n"}
              </Show>
            )}
          </For>
        </code>
      </pre>
      <Show when={hiddenLines() > 0}>
        <button type="button" class="button button-quiet approval-more" onClick={() => setIsWhole(true)}>
          Show all: {hiddenLines()} more {hiddenLines() === 1 ? "line" : "lines"} below
        </button>
      </Show>
    </>
  );
}
