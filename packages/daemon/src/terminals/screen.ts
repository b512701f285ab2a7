import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { SequenceLimiter } from "./sequence-limiter.ts";

/** Number of characters that the emulator processes in one step. Between steps, the process handles other work. */
const PIECE_LENGTH = 4096;

export interface ScreenSnapshot {
  /** Escape sequences that draw the screen and the lines above it in an empty terminal of this size. */
  readonly screen: string;
  readonly columns: number;
  readonly rows: number;
  /** Number of output bytes that the screen includes. */
  readonly offset: number;
}

/**
 * A terminal emulator without a display. It processes output in order and in small steps, so that it does not block the
 * event loop.
 */
export class Screen implements Disposable {
  readonly #terminal: headless.Terminal;
  readonly #serializer = new SerializeAddon();
  readonly #limiter = new SequenceLimiter(() => this.size);
  #parsed = 0;

  constructor({ columns, rows, scrollback }: { columns: number; rows: number; scrollback: number }) {
    this.#terminal = new headless.Terminal({ cols: columns, rows, scrollback, allowProposedApi: true });
    this.#terminal.loadAddon(this.#serializer);
    // A snapshot contains no links, so storing their URLs would only waste memory.
    this.#terminal.parser.registerOscHandler(8, () => true);
  }

  /** Number of bytes that have been processed. */
  get parsed(): number {
    return this.#parsed;
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  write(bytes: Uint8Array, onParsed: () => void): void {
    const text = this.#limiter.limit(bytes);
    let at = 0;
    for (; text.length - at > PIECE_LENGTH; at += PIECE_LENGTH) {
      this.#terminal.write(text.slice(at, at + PIECE_LENGTH));
    }
    this.#terminal.write(text.slice(at), () => {
      this.#parsed += bytes.byteLength;
      onParsed();
    });
  }

  /**
   * Changes the size after the output that has already been written. Resolves to the offset from which on the new size
   * applies.
   */
  async resize(columns: number, rows: number): Promise<number> {
    return this.#afterWrites(() => {
      this.#terminal.resize(columns, rows);
      return this.#parsed;
    });
  }

  /** Returns the screen after the output that has already been written. */
  async snapshot(): Promise<ScreenSnapshot> {
    return this.#afterWrites(() => ({
      screen: this.#serializer.serialize(),
      ...this.size,
      offset: this.#parsed,
    }));
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  async #afterWrites<Value>(read: () => Value): Promise<Value> {
    return new Promise((resolve) => {
      this.#terminal.write("", () => resolve(read()));
    });
  }
}
