/** Heights of rows, measured or estimated, and the offsets that follow from them. */
export class RowGeometry<Row extends { readonly key: string }> {
  readonly #heights = new Map<string, number>();
  readonly #estimate: (row: Row) => number;
  #rows: readonly Row[] = [];
  /** `#offsets[n]` is the top of row n. Has one more entry than there are rows. */
  #offsets = new Float64Array(1);
  #isStale = false;

  constructor(estimate: (row: Row) => number) {
    this.#estimate = estimate;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  setRows(rows: readonly Row[]): void {
    this.#rows = rows;
    this.#isStale = true;
  }

  heightOf(row: Row): number {
    return this.#heights.get(row.key) ?? this.#estimate(row);
  }

  /** Stores a measured height. Returns the difference to the previous height. */
  measure(row: Row, height: number): number {
    const change = height - this.heightOf(row);
    if (change !== 0 || !this.#heights.has(row.key)) {
      this.#heights.set(row.key, height);
      this.#isStale = true;
    }
    return change;
  }

  /** Call after the width has changed. Measured heights are only estimates from now on. */
  forget(): void {
    this.#heights.clear();
    this.#isStale = true;
  }

  /** Top of the row with this index. For the number of rows, the total height. */
  offsetOf(index: number): number {
    this.#update();
    return this.#offsets[Math.max(0, Math.min(index, this.#rows.length))] ?? 0;
  }

  /** The row at a position. */
  indexAt(position: number): number {
    this.#update();
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#offsets[middle + 1] ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, Math.max(0, this.#rows.length - 1));
  }

  #update(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#offsets = new Float64Array(this.#rows.length + 1);
    let offset = 0;
    for (const [index, row] of this.#rows.entries()) {
      offset += this.heightOf(row);
      this.#offsets[index + 1] = offset;
    }
  }
}
