import { messageOf } from "@codexkit/rpc/async";
import { type Codex, CodexError, type Input, type Thread, type Turn, type TurnResult } from "codexkit";
import { setTimeout as delay } from "node:timers/promises";
import { CliError, EXIT, type ExitCode, SilentExit } from "../errors/cli-error.ts";
import { formatCount, formatDuration } from "../render/format-values.ts";
import type { TurnView } from "../render/turn-view.ts";
import type { TurnLimits } from "../run/turn-limits.ts";
import { sanitizeText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { runSlashCommand } from "./slash-commands.ts";

/** How often to try to end a command of an interrupted turn: for one second in all. */
const END_ATTEMPTS = 10;
const END_RETRY_MS = 100;

interface ConversationOptions {
  readonly codex: Codex;
  readonly thread: Thread;
  /** Opens another thread: a new one, or a copy of the given one. */
  readonly openThread: (copied: Thread | undefined) => Promise<Thread>;
  readonly view: TurnView;
  readonly style: Style;
  readonly limits: TurnLimits;
  readonly signal: AbortSignal;
}

interface RunningTurn {
  readonly turn: Turn;
  isInterrupted: boolean;
}

/** A thread and its turns, as a user works with them at the terminal. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #exited = Promise.withResolvers<void>();
  #thread: Thread;
  #running: RunningTurn | undefined;
  #tokens = 0;
  #contextWindow: number | null = null;
  #hasLeft = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#thread = options.thread;
    options.signal.addEventListener("abort", () => this.#exited.reject(options.signal.reason), {
      once: true,
    });
    // Prevents an unhandled rejection if the caller is not waiting yet.
    this.#exited.promise.catch(() => undefined);
  }

  get codex(): Codex {
    return this.#options.codex;
  }

  get thread(): Thread {
    return this.#thread;
  }

  get style(): Style {
    return this.#options.style;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Tokens used by the whole thread. */
  get tokens(): number {
    return this.#tokens;
  }

  get contextWindow(): number | null {
    return this.#contextWindow;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when the user exits. Rejects if the program has to end or a limit is exceeded. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  exit(exitCode: ExitCode = EXIT.done): void {
    this.#hasLeft = true;
    if (exitCode === EXIT.done) this.#exited.resolve();
    else this.#exited.reject(new SilentExit(exitCode));
  }

  print(lines: readonly string[]): void {
    this.#options.view.block(lines);
  }

  note(text: string): void {
    this.print([this.style.dim(text)]);
  }

  /** Handles a line from the user: a message, a slash command or a shell command. */
  async submit(line: string): Promise<void> {
    const text = line.trim();
    if (text === "") return;
    this.print(
      text
        .split("\n")
        .map((each, index) => `${index === 0 ? this.style.bold("›") : " "} ${sanitizeText(each)}`),
    );
    try {
      if (text.startsWith("/")) await runSlashCommand(this, text);
      else if (text.startsWith("!"))
        this.startTurn(this.#thread.shell(text.slice(1).trim(), { signal: this.signal }));
      else await this.send(text);
    } catch (error) {
      this.#reportError(error);
    }
  }

  /** Steers the running turn, or starts one. */
  async send(input: Input): Promise<void> {
    if (this.#running) {
      try {
        await this.#thread.steer(input);
        return;
      } catch (error) {
        // The turn has just ended, so the message starts the next one.
        if (!(CodexError.is(error) && error.code === "turn_not_active")) throw error;
      }
    }
    const signal = AbortSignal.any([this.signal, this.#options.limits.signal]);
    this.startTurn(this.#thread.run(input, { signal, whenBusy: "steer" }));
  }

  /** Displays a turn until it ends. A turn that is already displayed is not displayed twice. */
  startTurn(turn: Turn): void {
    void this.#follow(turn);
  }

  /**
   * Handles Ctrl-C: interrupts the running turn, or exits if it has already been interrupted. Returns false
   * if no turn is running.
   */
  interrupt(): boolean {
    const running = this.#running;
    if (!running) return false;
    if (running.isInterrupted) {
      this.exit(EXIT.interrupted);
      return true;
    }
    running.isInterrupted = true;
    this.#options.view.setActivity("interrupting; press Ctrl-C again to exit");
    // If the interrupt fails, a second Ctrl-C exits.
    this.#thread.interrupt().catch(() => undefined);
    return true;
  }

  async replaceThread(how: "new" | "fork"): Promise<void> {
    if (this.#running) throw new Error("A turn is running. Wait for it, or interrupt it with Ctrl-C.");
    this.#thread = await this.#options.openThread(how === "fork" ? this.#thread : undefined);
    this.#tokens = 0;
    this.note(how === "fork" ? "This is a copy of the thread." : "This is a new thread.");
  }

  async #follow(turn: Turn): Promise<void> {
    const { view, limits, signal } = this.#options;
    // A shell command that is run during a turn belongs to that turn, which is already displayed.
    if (this.#running) return;
    this.#running = { turn, isInterrupted: false };
    view.begin("thinking");
    try {
      for await (const event of turn) {
        if (event.type === "usage.updated") {
          this.#tokens = event.total.totalTokens;
          this.#contextWindow = event.contextWindow;
        }
        limits.observe(event);
        view.handle(event);
      }
      const result = await turn;
      const { status, usage, durationMs } = result;
      view.end();
      if (status === "interrupted") await this.#endCommands(result);
      const time = durationMs === null ? "" : ` in ${formatDuration(durationMs)}`;
      this.note(`${status}${time} · ${formatCount(usage.totalTokens)} tokens`);
    } catch (error) {
      view.end();
      if (limits.exceeded) this.#exited.reject(limits.exceeded);
      // Exiting closes the connection of a running turn.
      else if (!signal.aborted && !this.#hasLeft) this.#reportError(error);
    } finally {
      this.#running = undefined;
    }
  }

  /** Ends the commands of an interrupted turn, which Codex keeps running in the background. */
  async #endCommands({ items, openItems }: TurnResult): Promise<void> {
    const ids = items.flatMap((item) =>
      item.type === "commandExecution" && item.processId !== null && openItems.includes(item.id)
        ? [item.processId]
        : [],
    );
    await Promise.all(ids.map((id) => this.#endCommand(id)));
  }

  /**
   * Codex accepts a command's ID only some time after the command has started, and no longer after it has
   * ended.
   */
  async #endCommand(id: string): Promise<void> {
    for (let attempt = 0; attempt < END_ATTEMPTS && !this.#options.signal.aborted; attempt += 1) {
      try {
        await this.#thread.terminals.terminate(id);
        return;
      } catch {
        await delay(END_RETRY_MS);
      }
    }
  }

  #reportError(error: unknown): void {
    const message = messageOf(error);
    const hint = error instanceof CliError && error.hint ? [sanitizeText(error.hint)] : [];
    this.print([`${this.style.red("error:")} ${sanitizeText(message)}`, ...hint]);
  }
}
