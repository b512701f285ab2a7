/** Number of rendered rows above and below the visible ones. */
const OVERSCAN = 20;

/** The rows to render at a scroll position: from `first` to before `last`. */
export function visibleRange(
  scrollTop: number,
  {
    height,
    rowHeight,
    count,
  }: { readonly height: number; readonly rowHeight: number; readonly count: number },
): { readonly first: number; readonly last: number } {
  const last = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN);
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN);
  return { first: Math.min(first, last), last };
}
