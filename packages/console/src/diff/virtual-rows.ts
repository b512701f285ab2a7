import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { type Accessor, createComputed, createSignal, on, onCleanup, onMount } from "solid-js";

export interface VirtualRows {
  /** Positions of the rendered rows, without gaps. */
  readonly positions: Accessor<readonly number[]>;
  /** Pixels above the first rendered row. */
  readonly offset: Accessor<number>;
  /** Height of all rows. */
  readonly height: Accessor<number>;
  /** The first row that is visible. */
  readonly first: Accessor<number>;
  /** Observes the height of a rendered row, whose `data-index` is its position. */
  readonly observe: (element: HTMLElement) => void;
  readonly scrollTo: (position: number, align: "start" | "center" | "auto") => void;
}

/** Renders only visible rows. `layout` is any value that changes when the heights of rows may have changed. */
export function createVirtualRows(options: {
  readonly count: Accessor<number>;
  readonly layout: Accessor<unknown>;
  readonly scroller: () => HTMLElement;
  /** Estimated height of an unmeasured row. A better estimate saves computations. */
  readonly estimateHeight: (position: number) => number;
}): VirtualRows {
  const [range, setRange] = createSignal<{
    positions: readonly number[];
    offset: number;
    height: number;
    first: number;
  }>({ positions: [], offset: 0, height: 0, first: 0 });

  function createOptions() {
    return {
      count: options.count(),
      getScrollElement: () => options.scroller(),
      estimateSize: options.estimateHeight,
      overscan: 12,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: publish,
    };
  }

  const virtualizer = new Virtualizer<HTMLElement, HTMLElement>({ ...createOptions(), onChange: () => {} });

  function publish(): void {
    virtualizer._willUpdate();
    const items = virtualizer.getVirtualItems();
    setRange({
      positions: items.map(({ index }) => index),
      offset: items[0]?.start ?? 0,
      height: virtualizer.getTotalSize(),
      first: virtualizer.range?.startIndex ?? 0,
    });
  }

  onMount(() => {
    const unmount = virtualizer._didMount();
    virtualizer.setOptions(createOptions());
    publish();
    onCleanup(unmount);
  });
  createComputed(
    on(
      [options.count, options.layout],
      () => {
        virtualizer.setOptions(createOptions());
        // Measured heights are stored by position, and the positions now belong to other rows.
        virtualizer.measure();
        publish();
      },
      { defer: true },
    ),
  );

  return {
    positions: () => range().positions,
    offset: () => range().offset,
    height: () => range().height,
    first: () => range().first,
    observe: (element) => virtualizer.measureElement(element),
    scrollTo: (position, align) => virtualizer.scrollToIndex(position, { align }),
  };
}
