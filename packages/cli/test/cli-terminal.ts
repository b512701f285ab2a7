import { spawn, type IPty } from "@lydell/node-pty";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import xterm from "@xterm/headless";
import { CLI, cliEnvironment, type CliOptions } from "./cli-process.ts";

export interface TerminalOptions extends Omit<CliOptions, "input"> {
  readonly columns?: number;
  readonly rows?: number;
  /** Arguments of Node before the given ones. Default: the command line from source. */
  readonly program?: readonly string[];
}

/** How long a test waits for text on the screen. */
const WAIT_MS = 20_000;

/** The command line in a real pseudo-terminal, with the screen that a user would see. */
export class CliTerminal implements AsyncDisposable {
  readonly #pty: IPty;
  readonly #screen: xterm.Terminal;
  readonly #changes = new Set<() => void>();
  #raw = "";
  readonly exited: Promise<number>;

  constructor(
    args: readonly string[],
    { columns = 80, rows = 24, cwd = process.cwd(), env, program = CLI }: TerminalOptions = {},
  ) {
    this.#screen = new xterm.Terminal({ cols: columns, rows, scrollback: 50_000, allowProposedApi: true });
    this.#screen.loadAddon(new Unicode11Addon());
    this.#screen.unicode.activeVersion = "11";
    this.#pty = spawn(process.execPath, [...program, ...args], {
      cols: columns,
      rows,
      cwd,
      env: Object.fromEntries(Object.entries(cliEnvironment(env)).filter(([, value]) => value !== undefined)),
    });
    this.#pty.onData((data) => {
      this.#raw += data;
      this.#screen.write(data, () => {
        for (const change of this.#changes) change();
      });
    });
    this.exited = new Promise((resolve) => {
      // The screen is complete after everything that was written has been drawn.
      this.#pty.onExit(({ exitCode, signal }) =>
        this.#screen.write("", () => resolve(signal ? 128 + signal : exitCode)),
      );
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Everything that was received, escape sequences included. */
  get raw(): string {
    return this.#raw;
  }

  /** The rows of the screen and above it, without empty ones at the end. */
  get rows(): string[] {
    return this.#readRows().map(({ text }) => text);
  }

  /** The same as `rows`, with rows that the terminal has wrapped joined. */
  get lines(): string[] {
    const lines: string[] = [];
    for (const { text, isWrapped } of this.#readRows()) {
      if (isWrapped) lines.push((lines.pop() ?? "") + text);
      else lines.push(text);
    }
    return lines;
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** The row of the cursor, with the columns before it. */
  get beforeCursor(): string {
    const { active } = this.#screen.buffer;
    const row = active.getLine(active.baseY + active.cursorY);
    return row?.translateToString(false, 0, active.cursorX) ?? "";
  }

  write(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
    this.#screen.resize(columns, rows);
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.#pty.pid, signal);
  }

  /** Closes the terminal as a window does: the program gets SIGHUP, and its output fails. */
  close(): void {
    (this.#pty as IPty & { destroy(): void }).destroy();
  }

  /** Waits until the screen has a text. Rejects with the screen if the program ends without it, or after a time limit. */
  async waitFor(pattern: string | RegExp): Promise<void> {
    const isShown = (): boolean =>
      typeof pattern === "string" ? this.text.includes(pattern) : pattern.test(this.text);
    if (isShown()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (why: string): void => reject(new Error(`${why} without ${pattern}:\n${this.text}`));
    const change = (): void => void (isShown() && resolve());
    const timer = setTimeout(() => fail(`${WAIT_MS} ms passed`), WAIT_MS);
    this.#changes.add(change);
    void this.exited.then((code) => (isShown() ? resolve() : fail(`The program exited with ${code}`)));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#changes.delete(change);
    }
  }

  #readRows(): { text: string; isWrapped: boolean }[] {
    const { active } = this.#screen.buffer;
    const rows = Array.from({ length: active.length }, (_, index) => {
      const row = active.getLine(index);
      return { text: row?.translateToString(true) ?? "", isWrapped: row?.isWrapped ?? false };
    });
    return rows.slice(0, rows.findLastIndex(({ text }) => text !== "") + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#pty.kill("SIGTERM");
      await this.exited;
    } catch {
      // It has already exited.
    }
    this.#screen.dispose();
  }
}
