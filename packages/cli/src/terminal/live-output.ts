import { lifetime } from "../process/lifetime.ts";
import { textWidth } from "./width.ts";

/** Interval between redraws: fast enough for streaming text, slow enough for a remote terminal. */
const DRAW_INTERVAL_MS = 30;

/** Interval at which a status with the elapsed time is redrawn while nothing else happens. */
export const STATUS_INTERVAL_MS = 1_000;

const HIDE_CURSOR = "\u001b[?25l";
const RESTORE_CURSOR = "\u001b[?25h";
const ERASE_BELOW = "\r\u001b[J";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** Position of the cursor in the live rows, from 0. */
export interface LiveCursor {
  readonly row: number;
  readonly column: number;
}

/**
 * The rows at the bottom of the terminal, none wider than the terminal. The terminal's cursor is hidden if
 * `cursor` is undefined.
 */
export interface LiveRows {
  readonly rows: readonly string[];
  readonly cursor?: LiveCursor | undefined;
}

/** Rows of an input line. */
export interface InputRows extends LiveRows {
  readonly cursor: LiveCursor;
}

interface DrawnRows {
  readonly widths: readonly number[];
  /** The row that contains the cursor. */
  readonly cursorRow: number;
}

const NOTHING: DrawnRows = { widths: [], cursorRow: 0 };

/**
 * Prints lines that scroll away, and below them rows that are redrawn repeatedly. On a stream that is not a
 * terminal there are no such rows, and lines are written at once.
 */
export class LiveOutput implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #isLive: boolean;
  readonly #onResize = (): void => this.#schedule();
  readonly #onExit: Disposable;
  #render: () => LiveRows = () => ({ rows: [] });
  #printed = "";
  #drawn = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #isPaused = false;
  #isCursorHidden = false;

  /**
   * @param isLive Whether rows can be redrawn: the stream is a terminal that understands escape sequences.
   */
  constructor(stream: NodeJS.WriteStream, isLive: boolean) {
    this.#stream = stream;
    this.#isLive = isLive;
    if (isLive) stream.on("resize", this.#onResize);
    this.#onExit = lifetime.onExit(() => this[Symbol.dispose]());
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /**
   * Number of columns that a row can use. One less than the terminal has, because some terminals count the
   * width of a character differently.
   */
  get columns(): number {
    return Math.max(1, (this.#stream.columns || DEFAULT_COLUMNS) - 1);
  }

  get rows(): number {
    return this.#stream.rows || DEFAULT_ROWS;
  }

  /** Writes one or more lines. */
  print(text: string): void {
    this.#printed += `${text}\n`;
    if (this.#isLive) this.#schedule();
    else this.flush();
  }

  /** Sets the function that returns the live rows. It is called for each redraw. */
  setRows(render: () => LiveRows): void {
    this.#render = render;
    this.update();
  }

  /** Schedules a redraw. */
  update(): void {
    if (this.#isLive) this.#schedule();
  }

  /** Redraws everything now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isPaused) return;
    const { rows, cursor } = this.#isLive ? this.#render() : { rows: [] };
    const text = this.#erase() + this.#printed + rows.join("\n") + this.#moveCursor(rows, cursor);
    this.#printed = "";
    if (text !== "") this.#stream.write(text);
  }

  /** Erases the live rows and draws nothing until `resume`, so that a prompt can use the terminal. */
  pause(): void {
    this.flush();
    this.#stream.write(this.#erase() + this.#restoreCursor());
    this.#drawn = NOTHING;
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  /** Erases the live rows, writes the remaining lines and restores the cursor. */
  [Symbol.dispose](): void {
    this.#render = () => ({ rows: [] });
    this.#isPaused = false;
    this.flush();
    if (this.#isCursorHidden) this.#stream.write(this.#restoreCursor());
    this.#stream.off("resize", this.#onResize);
    this.#onExit[Symbol.dispose]();
  }

  #schedule(): void {
    if (this.#isPaused) return;
    this.#timer ??= setTimeout(() => this.flush(), DRAW_INTERVAL_MS);
  }

  /** A terminal that became narrower has wrapped the drawn rows. */
  #erase(): string {
    const { widths, cursorRow } = this.#drawn;
    if (widths.length === 0) return "";
    const columns = this.#stream.columns || DEFAULT_COLUMNS;
    const above = widths
      .slice(0, cursorRow)
      .reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return (above > 0 ? `\u001b[${above}A` : "") + ERASE_BELOW;
  }

  #moveCursor(rows: readonly string[], cursor: LiveCursor | undefined): string {
    const cursorRow = cursor?.row ?? Math.max(0, rows.length - 1);
    this.#drawn = { widths: rows.map(textWidth), cursorRow };
    if (rows.length === 0) return "";
    if (cursor === undefined) {
      if (this.#isCursorHidden) return "";
      this.#isCursorHidden = true;
      return HIDE_CURSOR;
    }
    const up = rows.length - 1 - cursor.row;
    return `${up > 0 ? `\u001b[${up}A` : ""}\u001b[${cursor.column + 1}G${this.#restoreCursor()}`;
  }

  #restoreCursor(): string {
    if (!this.#isCursorHidden) return "";
    this.#isCursorHidden = false;
    return RESTORE_CURSOR;
  }
}
