import { createInterface, type Interface } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { lifetime } from "../process/lifetime.ts";
import type { InputRows } from "../terminal/live-output.ts";
import type { Style } from "../terminal/style.ts";
import { truncateText } from "../terminal/width.ts";
import { layoutInput } from "./layout-input.ts";
import { PASTED_BREAK, PasteFilter } from "./paste-filter.ts";

export const BRACKETED_PASTE = { on: "\u001b[?2004h", off: "\u001b[?2004l" };

const PROMPT = "› ";

interface LineEditorOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly style: Style;
  /** Earlier messages, oldest first. */
  readonly history: readonly string[];
  /** Words that the Tab key completes at the start of a line. */
  readonly completions: readonly string[];
  /** Shown while nothing is typed. */
  readonly placeholder: string;
  readonly onLine: (text: string) => void;
  readonly onInterrupt: () => void;
  /** Called on Ctrl-D or at the end of the input. */
  readonly onEnd: () => void;
  /** Called when the text or the cursor has changed. */
  readonly onChange: () => void;
}

/** Node's line editor (keys, history, completion) without its output: the caller draws `rows`. */
export class LineEditor implements Disposable {
  readonly #options: LineEditorOptions;
  readonly #onExit: Disposable;
  #history: string[];
  #session: { readonly editor: Interface; stop(): void } | undefined;
  #savedText = "";

  constructor(options: LineEditorOptions) {
    this.#options = options;
    this.#history = options.history.map((entry) => entry.replaceAll("\n", PASTED_BREAK)).toReversed();
    this.#onExit = lifetime.onExit(() => this.#releaseTerminal());
    this.resume();
  }

  get text(): string {
    return (this.#session?.editor.line ?? this.#savedText).replaceAll(PASTED_BREAK, "\n");
  }

  clear(): void {
    this.#session?.editor.write(null, { ctrl: true, name: "e" });
    this.#session?.editor.write(null, { ctrl: true, name: "u" });
    this.#options.onChange();
  }

  rows(columns: number): InputRows {
    const { style, placeholder } = this.#options;
    const { text } = this;
    const cursor = this.#session?.editor.cursor ?? 0;
    const layout = layoutInput({ prompt: PROMPT, text, cursor, columns });
    if (text !== "") return layout;
    return { ...layout, rows: [PROMPT + style.dim(truncateText(placeholder, columns - PROMPT.length))] };
  }

  /** Lets another reader, such as a prompt, receive the keys. Keeps the text. */
  pause(): void {
    const session = this.#session;
    if (!session) return;
    this.#savedText = session.editor.line;
    this.#session = undefined;
    session.stop();
    this.#releaseTerminal();
  }

  /** Adds text that was typed while the editor was paused. */
  append(text: string): void {
    this.#savedText += text;
  }

  resume(): void {
    if (this.#session) return;
    const { stdin, stdout, onLine, onInterrupt, onEnd, onChange, completions } = this.#options;
    const keys = new PassThrough();
    const editor = createInterface({
      input: keys,
      output: new Writable({ write: (_chunk, _encoding, done) => done() }),
      terminal: true,
      history: this.#history,
      historySize: 1_000,
      removeHistoryDuplicates: true,
      completer: (line: string) => [completions.filter((word) => word.startsWith(line)), line],
    });
    const filter = new PasteFilter();
    const decoder = new StringDecoder("utf8");
    const onData = (chunk: Buffer): void => {
      keys.write(filter.filter(decoder.write(chunk)));
    };
    editor.on("line", (line) => onLine(line.replaceAll(PASTED_BREAK, "\n")));
    editor.on("history", (history) => {
      this.#history = [...history];
    });
    editor.on("SIGINT", onInterrupt);
    editor.on("close", () => {
      if (this.#session?.editor === editor) onEnd();
    });
    keys.on("keypress", onChange);
    stdin.on("data", onData);
    stdin.on("end", onEnd);
    stdin.setRawMode(true);
    stdin.resume();
    stdout.write(BRACKETED_PASTE.on);
    if (this.#savedText !== "") editor.write(this.#savedText);
    this.#savedText = "";
    this.#session = {
      editor,
      stop: () => {
        stdin.off("data", onData);
        stdin.off("end", onEnd);
        stdin.pause();
        editor.close();
      },
    };
  }

  [Symbol.dispose](): void {
    this.pause();
    this.#onExit[Symbol.dispose]();
  }

  #releaseTerminal(): void {
    const { stdin, stdout } = this.#options;
    if (!stdin.isRaw) return;
    stdin.setRawMode(false);
    stdout.write(BRACKETED_PASTE.off);
  }
}
