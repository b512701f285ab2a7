import { createEffect, createMemo, createSignal, For, type JSX, on, onCleanup, onMount } from "solid-js";
import { visibleRange } from "./visible-range.ts";

/** A long list of rows with the same height. Only visible rows are mounted. */
export function FixedRows(props: {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly children: (index: number) => JSX.Element;
  /** Called when the end of the list is nearly on screen. */
  readonly onEnd?: () => void;
  /** The row to scroll to, initially and after each change of `start`. */
  readonly start?: { readonly at: "top" | "end" } | undefined;
}): JSX.Element {
  const [scrollTop, setScrollTop] = createSignal(0);
  const [height, setHeight] = createSignal(600);
  const range = createMemo(() =>
    visibleRange(scrollTop(), { height: height(), rowHeight: props.rowHeight, count: props.count }),
  );
  const indexes = createMemo(() => {
    const { first, last } = range();
    return Array.from({ length: last - first }, (_, index) => first + index);
  });
  let container!: HTMLDivElement;
  const report = (): void => {
    setScrollTop(container.scrollTop);
    if (range().last >= props.count) props.onEnd?.();
  };
  createEffect(() => {
    const { at } = props.start ?? { at: "top" };
    if (props.count > 0 && at === "end") container.scrollTop = container.scrollHeight;
  });
  createEffect(
    on(
      () => props.start,
      () => (container.scrollTop = 0),
      { defer: true },
    ),
  );
  onMount(() => {
    const observer = new ResizeObserver(() => setHeight(container.clientHeight));
    observer.observe(container);
    onCleanup(() => observer.disconnect());
  });
  return (
    <div
      class="fixed-rows"
      role="region"
      tabindex="0"
      aria-label={props.label}
      ref={(element) => (container = element)}
      onScroll={report}
    >
      <div class="fixed-rows-space" style={{ height: `${props.count * props.rowHeight}px` }}>
        <div
          class="fixed-rows-window"
          style={{ transform: `translateY(${range().first * props.rowHeight}px)` }}
        >
          <For each={indexes()}>{(index) => props.children(index)}</For>
        </div>
      </div>
    </div>
  );
}
