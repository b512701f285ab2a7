import { createEffect, createSignal, For, type JSX, on, onCleanup, onMount } from "solid-js";
import { beforeNextPaint, beforePaint, cancelBeforePaint } from "../frame/frame-queue.ts";
import { RowGeometry } from "./row-geometry.ts";

export interface VirtualListHandle {
  /** Scrolls to the end, and stays there when rows are added. */
  readonly scrollToEnd: () => void;
  /** Scrolls a row into view. Returns its element once it is mounted. */
  readonly reveal: (key: string, position?: "start" | "nearest") => Promise<HTMLElement | undefined>;
  /** Keys of the rows that are on screen. */
  readonly visibleKeys: () => readonly string[];
  readonly snapshot: () => ListSnapshot;
}

/** A scroll position that can be restored. */
export interface ListSnapshot {
  readonly isPinned: boolean;
  readonly anchor: { readonly key: string; readonly top: number } | undefined;
}

export interface VirtualListProps<Row extends { readonly key: string }> {
  readonly rows: readonly Row[];
  readonly estimate: (row: Row) => number;
  readonly children: (row: Row) => JSX.Element;
  /** Whether the list starts at the end, and stays there when rows are added. */
  readonly followsEnd?: boolean;
  readonly initial?: ListSnapshot;
  readonly label: string;
  readonly role?: JSX.AriaAttributes["role"];
  readonly class?: string;
  readonly handle?: (handle: VirtualListHandle) => void;
  /** Called when the beginning of the list is near the screen. */
  readonly onNearStart?: () => void;
  readonly onPinnedChange?: (isPinned: boolean) => void;
  readonly footer?: JSX.Element;
}

/** Larger than the height of any list. */
const END = 2 ** 30;
/** Distance from the end within which the list stays at the end. */
const PIN_DISTANCE = 80;
/** Pixels beyond the screen in which rows are mounted. */
const OVERSCAN = 800;

/**
 * A list that mounts only rows near the screen. The browser lays out the rows between two spacers. Visible rows never move: if
 * rows above them change their height or are added, the scroll position is corrected before the next paint.
 */
export function VirtualList<Row extends { readonly key: string }>(props: VirtualListProps<Row>) {
  const geometry = new RowGeometry<Row>((row) => props.estimate(row));
  const [range, setRange] = createSignal<readonly Row[]>([]);
  const elements = new Map<string, HTMLElement>();
  const rowsByElement = new WeakMap<Element, Row>();
  let scroller!: HTMLDivElement;
  let above!: HTMLDivElement;
  let below!: HTMLDivElement;
  let start = 0;
  let isPinned = props.initial?.isPinned ?? props.followsEnd ?? false;
  let initialAnchor = props.initial?.anchor;
  let lastTop = 0;
  let width = 0;
  /** Observed height of the scroller. Reading it from the DOM would cause a layout in the middle of a frame. */
  let height: number | undefined;

  const setPinned = (next: boolean): void => {
    if (isPinned === next) return;
    isPinned = next;
    props.onPinnedChange?.(next);
  };

  const scrollTo = (top: number): void => {
    scroller.scrollTop = top;
    lastTop = scroller.scrollTop;
  };

  /** The element of the row whose field has the focus. */
  const findHeld = (): Element | null =>
    isField(document.activeElement) ? (document.activeElement?.closest(".virtual-row") ?? null) : null;

  /** The row that must not move, and its distance from the top of the list: that of a focused field, or the first one on screen. */
  const findAnchor = (): { readonly key: string; readonly top: number } | undefined => {
    const origin = scroller.getBoundingClientRect().top;
    const held = findHeld();
    const heldRow = held && rowsByElement.get(held);
    const heldTop = heldRow ? held.getBoundingClientRect().top - origin : Infinity;
    // If the reader has scrolled away from it, what is on screen matters more.
    if (heldRow && Math.abs(heldTop) < (height ?? 0) + OVERSCAN) return { key: heldRow.key, top: heldTop };
    for (const row of range()) {
      const rect = elements.get(row.key)?.getBoundingClientRect();
      if (rect && rect.bottom > origin) return { key: row.key, top: rect.top - origin };
    }
    return undefined;
  };

  const restoreAnchor = (anchor: { readonly key: string; readonly top: number }): void => {
    const rect = elements.get(anchor.key)?.getBoundingClientRect();
    if (!rect) return;
    const shift = rect.top - scroller.getBoundingClientRect().top - anchor.top;
    if (Math.abs(shift) >= 0.5) scrollTo(scroller.scrollTop + shift);
  };

  /** After a correction of the scroll position: `sizes` must not correct it again for the same rows. */
  const measureMounted = (): void => {
    for (const row of range()) {
      const element = elements.get(row.key);
      if (element) geometry.measure(row, element.getBoundingClientRect().height);
    }
  };

  /** Mounts the rows around a position. */
  const mount = (top: number, mustHave?: number): void => {
    const { rows } = geometry;
    const from = geometry.indexAt(Math.max(0, top - OVERSCAN));
    const to = geometry.indexAt(top + (height ?? 0) + OVERSCAN) + 1;
    start = Math.min(from, mustHave ?? from);
    const end = Math.min(rows.length, Math.max(to, (mustHave ?? 0) + 1));
    setRange(rows.slice(start, end));
    above.style.height = `${geometry.offsetOf(start)}px`;
    below.style.height = `${geometry.offsetOf(rows.length) - geometry.offsetOf(end)}px`;
  };

  const update = (): void => {
    height ??= scroller.clientHeight;
    if (height === 0) return;
    if (isPinned) {
      // Nothing is measured here: once the browser has laid out the rows, `sizes` scrolls to their end.
      geometry.setRows(props.rows);
      const total = geometry.offsetOf(geometry.rows.length);
      mount(total - height);
      if (total - height < OVERSCAN && geometry.rows.length > 0) props.onNearStart?.();
      return;
    }
    const anchor = initialAnchor ?? findAnchor();
    geometry.setRows(props.rows);
    const index = anchor ? props.rows.findIndex(({ key }) => key === anchor.key) : -1;
    if (anchor && index !== -1) {
      mount(geometry.offsetOf(index) - anchor.top, index);
      restoreAnchor(anchor);
      initialAnchor = undefined;
    } else mount(scroller.scrollTop);
    measureMounted();
    checkStart();
  };

  const schedule = (): void => beforePaint(update);

  const checkStart = (): void => {
    if (scroller.scrollTop < OVERSCAN && geometry.rows.length > 0) props.onNearStart?.();
  };

  const onScroll = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    if (Math.abs(scrollTop - lastTop) < 1) return;
    const distance = scrollHeight - scrollTop - clientHeight;
    if (scrollTop < lastTop) {
      if (distance > 1) setPinned(false);
    } else if (props.followsEnd && distance <= PIN_DISTANCE && !isField(document.activeElement))
      setPinned(true);
    lastTop = scrollTop;
    const first = range()[0];
    const last = range().at(-1);
    const top = first ? (elements.get(first.key)?.offsetTop ?? 0) : 0;
    const lastElement = last && elements.get(last.key);
    const bottom = lastElement ? lastElement.offsetTop + lastElement.offsetHeight : 0;
    const isCovered =
      (top <= scrollTop - OVERSCAN / 2 || start === 0) &&
      (bottom >= scrollTop + clientHeight + OVERSCAN / 2 || start + range().length >= geometry.rows.length);
    if (!isCovered) schedule();
    checkStart();
  };

  const onWheel = (event: WheelEvent): void => {
    if (event.deltaY < 0 && scroller.scrollHeight > scroller.clientHeight) setPinned(false);
  };

  /** A focused field keeps its row mounted: following the end would unmount it, and the next keys would be shortcuts. */
  const onFocusIn = ({ target }: FocusEvent): void => {
    if (isField(target)) setPinned(false);
  };

  const isField = (target: EventTarget | null): boolean =>
    target instanceof Element && scroller.contains(target) && target.matches("input, select, textarea");

  /** Whether the mounted rows fill the screen and most of the margin around it. */
  const isFilled = (): boolean => {
    const mounted = geometry.offsetOf(start + range().length) - geometry.offsetOf(start);
    return start === 0 || mounted >= (height ?? 0) + OVERSCAN / 2;
  };

  // Called after the browser has laid out a frame, and before it is painted. Reading sizes costs nothing here.
  const sizes = new ResizeObserver((entries) => {
    const origin = isPinned ? 0 : scroller.getBoundingClientRect().top;
    const held = isPinned ? null : findHeld();
    let shift = 0;
    let mustUpdate = false;
    for (const { target, borderBoxSize } of entries) {
      if (target === scroller) {
        if (width !== 0 && width !== scroller.clientWidth) geometry.forget();
        width = scroller.clientWidth;
        height = scroller.clientHeight;
        mustUpdate = true;
        continue;
      }
      const row = rowsByElement.get(target);
      if (!row || !target.isConnected) continue;
      const change = geometry.measure(row, borderBoxSize[0]?.blockSize ?? 0);
      if (isPinned || change === 0) continue;
      mustUpdate = true;
      const hasMovedRows = held
        ? (held.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING) !== 0
        : // The row's old bottom was above the screen, so all visible rows have moved.
          target.getBoundingClientRect().bottom - change <= origin;
      if (hasMovedRows) shift += change;
    }
    if (isPinned) {
      scrollTo(END);
      mustUpdate ||= !isFilled();
    } else if (shift !== 0) scrollTo(scroller.scrollTop + shift);
    if (mustUpdate) beforeNextPaint(update);
  });

  onMount(() => {
    for (const element of [scroller, above, below]) sizes.observe(element);
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("wheel", onWheel, { passive: true });
    scroller.addEventListener("focusin", onFocusIn);
    props.handle?.({
      scrollToEnd: () => {
        setPinned(true);
        update();
        scrollTo(END);
      },
      reveal,
      visibleKeys: () => {
        const { top, bottom } = scroller.getBoundingClientRect();
        return range()
          .filter(({ key }) => {
            const rect = elements.get(key)?.getBoundingClientRect();
            return rect !== undefined && rect.bottom > top && rect.top < bottom;
          })
          .map(({ key }) => key);
      },
      snapshot: () => ({ isPinned, anchor: isPinned ? undefined : findAnchor() }),
    });
  });
  createEffect(on(() => props.rows, schedule));
  onCleanup(() => {
    cancelBeforePaint(update);
    sizes.disconnect();
  });

  async function reveal(
    key: string,
    position: "start" | "nearest" = "nearest",
  ): Promise<HTMLElement | undefined> {
    const index = props.rows.findIndex((row) => row.key === key);
    if (index === -1) return undefined;
    const mounted = elements.get(key);
    if (!mounted || position === "start") {
      setPinned(false);
      geometry.setRows(props.rows);
      height = scroller.clientHeight;
      mount(geometry.offsetOf(index), index);
      restoreAnchor({ key, top: Math.min(48, height / 4) });
      measureMounted();
      schedule();
    }
    const element = elements.get(key);
    if (position === "nearest" && element) keepInView(element);
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    return elements.get(key);
  }

  function keepInView(element: HTMLElement): void {
    const view = scroller.getBoundingClientRect();
    const rect = element.getBoundingClientRect();
    if (rect.top < view.top) {
      setPinned(false);
      scrollTo(scroller.scrollTop + rect.top - view.top - 8);
      schedule();
    } else if (rect.bottom > view.bottom) {
      scrollTo(scroller.scrollTop + Math.min(rect.bottom - view.bottom + 8, rect.top - view.top));
      schedule();
    }
  }

  const add = (row: Row, element: HTMLElement): void => {
    elements.set(row.key, element);
    rowsByElement.set(element, row);
    sizes.observe(element);
    onCleanup(() => {
      sizes.unobserve(element);
      if (elements.get(row.key) === element) elements.delete(row.key);
    });
  };

  return (
    <div
      ref={scroller}
      class={`virtual-list ${props.class ?? ""}`}
      role={props.role}
      aria-label={props.label}
      aria-live="off"
      tabindex="0"
    >
      <div ref={above} aria-hidden="true" />
      <For each={range()}>
        {(row) => (
          <div ref={(element) => add(row, element)} class="virtual-row" data-key={row.key} tabindex="-1">
            {props.children(row)}
          </div>
        )}
      </For>
      <div ref={below} aria-hidden="true" />
      {props.footer}
    </div>
  );
}
