import { splitShell } from "@codexkit/approvals/shell";
import type { CodexEvent, ItemCompletedEvent, ItemDeltaEvent, ItemStartedEvent } from "codexkit";
import type { LiveOutput } from "../terminal/live-output.ts";
import { revealLine, sanitizeText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { truncateText, wrapText } from "../terminal/width.ts";
import { formatChanges } from "./format-diff.ts";
import { formatCommand, formatOtherItem, formatOutput, formatPlan, formatReasoning } from "./format-items.ts";
import { formatCount, formatDuration } from "./format-values.ts";

/** Maximum number of rows that show the output of a running command. */
const LIVE_OUTPUT_ROWS = 3;

/** Maximum number of characters of a running command's output that are kept for these rows. */
const LIVE_OUTPUT_CHARACTERS = 8 * 1024;

interface TurnViewOptions {
  readonly output: LiveOutput;
  readonly style: Style;
  /** Holds each message back until something follows it, so that the last one is not printed here. */
  readonly holdsLastMessage?: boolean;
  readonly budget?: number | undefined;
  /** Paths below this folder are shown relative to it. */
  readonly cwd: string;
  readonly now?: () => number;
}

interface RunningCommand {
  readonly command: string;
  output: string;
}

/** Prints the events of turns as blocks of lines, and shows the current activity in the live rows. */
export class TurnView {
  readonly #output: LiveOutput;
  readonly #style: Style;
  readonly #holdsLastMessage: boolean;
  readonly #budget: number | undefined;
  readonly #cwd: string;
  readonly #now: () => number;
  readonly #commands = new Map<string, RunningCommand>();
  /** The message that is being streamed: its whole text, and how much of it has been printed. */
  #message: { itemId: string; text: string; printed: number } | undefined;
  #held: string | undefined;
  #startedAt: number | undefined;
  #tokens = 0;
  #activity = "";
  #hasPrinted = false;

  constructor({ output, style, holdsLastMessage = false, budget, cwd, now = Date.now }: TurnViewOptions) {
    this.#output = output;
    this.#style = style;
    this.#holdsLastMessage = holdsLastMessage;
    this.#budget = budget;
    this.#cwd = cwd;
    this.#now = now;
  }

  /** Starts a turn, from which the elapsed time counts. */
  begin(activity = "starting"): void {
    this.#startedAt = this.#now();
    this.#tokens = 0;
    this.#activity = activity;
    this.#output.update();
  }

  get isRunning(): boolean {
    return this.#startedAt !== undefined;
  }

  end(): void {
    this.#finishMessage();
    this.#startedAt = undefined;
    this.#commands.clear();
    this.#output.update();
  }

  /** Sets what the turn is waiting for. */
  setActivity(activity: string): void {
    this.#activity = activity;
    this.#output.update();
  }

  /** Prints lines after an empty line. */
  block(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (this.#hasPrinted) this.#output.print("");
    this.#output.print(lines.join("\n"));
    this.#hasPrinted = true;
  }

  handle(event: CodexEvent): void {
    switch (event.type) {
      case "item.started":
        this.#startItem(event);
        break;
      case "item.delta":
        this.#continueItem(event);
        break;
      case "item.completed":
        this.#completeItem(event);
        break;
      case "plan.updated":
        this.#releaseHeld();
        this.block(formatPlan(event.plan, event.explanation, this.#style));
        break;
      case "usage.updated":
        this.#tokens = event.usage.totalTokens;
        break;
      case "warning":
        this.block([`${this.#style.yellow("warning:")} ${sanitizeText(event.message)}`]);
        break;
      default:
        break;
    }
    this.#output.update();
  }

  /** Returns the live rows of a running turn: the unfinished line, a command's output and the status. */
  rows(): string[] {
    if (this.#startedAt === undefined) return [];
    const { columns, rows } = this.#output;
    return [
      ...this.#messageRows(columns, rows),
      ...this.#outputRows(columns),
      this.#status(columns, this.#startedAt),
    ];
  }

  #startItem({ item }: ItemStartedEvent): void {
    if (item.type === "userMessage") return;
    this.#releaseHeld();
    this.#finishMessage();
    if (item.type === "commandExecution") {
      this.#commands.set(item.id, { command: revealLine(splitShell(item.command).script), output: "" });
    }
    this.#activity =
      item.type === "reasoning" ? "thinking" : item.type === "agentMessage" ? "writing" : "working";
  }

  #continueItem({ itemId, kind, delta }: ItemDeltaEvent): void {
    if (kind === "command_output") {
      const running = this.#commands.get(itemId);
      if (running) running.output = (running.output + delta).slice(-LIVE_OUTPUT_CHARACTERS);
    } else if (kind === "message" && !this.#holdsLastMessage) {
      this.#streamMessage(itemId, (this.#message?.itemId === itemId ? this.#message.text : "") + delta);
    }
  }

  #completeItem({ item }: ItemCompletedEvent): void {
    this.#commands.delete(item.id);
    switch (item.type) {
      case "agentMessage":
        if (this.#holdsLastMessage) {
          this.#releaseHeld();
          this.#held = item.text;
        } else {
          this.#streamMessage(item.id, item.text);
          this.#finishMessage();
        }
        break;
      case "reasoning":
        this.block(formatReasoning(item.summary, this.#style));
        break;
      case "commandExecution":
        this.block(formatCommand(item, this.#style));
        break;
      case "fileChange":
        this.block([
          ...formatChanges(item.changes, this.#style, { cwd: this.#cwd }),
          ...(item.status === "completed" ? [] : [`  ${this.#style.red(item.status)}`]),
        ]);
        break;
      case "plan":
        this.block(sanitizeText(item.text.trimEnd()).split("\n"));
        break;
      default: {
        const line = formatOtherItem(item, this.#style);
        if (line !== undefined) this.block([line]);
      }
    }
    this.#activity = "thinking";
  }

  /** Prints the complete lines of a message. The last, incomplete one stays in the live rows. */
  #streamMessage(itemId: string, text: string): void {
    if (this.#message?.itemId !== itemId) {
      this.#finishMessage();
      this.#message = { itemId, text: "", printed: 0 };
    }
    this.#message.text = text;
    const end = text.lastIndexOf("\n") + 1;
    if (end <= this.#message.printed) return;
    this.#printMessage(text.slice(this.#message.printed, end - 1), this.#message.printed === 0);
    this.#message.printed = end;
  }

  #finishMessage(): void {
    if (!this.#message) return;
    const { text, printed } = this.#message;
    this.#message = undefined;
    const rest = text.slice(printed).trimEnd();
    if (rest !== "") this.#printMessage(rest, printed === 0);
  }

  #printMessage(text: string, isFirst: boolean): void {
    const lines = sanitizeText(text).split("\n");
    if (isFirst) this.block(lines);
    else this.#output.print(lines.join("\n"));
  }

  #releaseHeld(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.block(sanitizeText(held.trimEnd()).split("\n"));
  }

  #messageRows(columns: number, rows: number): string[] {
    if (!this.#message) return [];
    const { text: whole, printed } = this.#message;
    // A line can have megabytes and is drawn many times per second, so it is cut to what fits on the screen.
    const start = Math.max(printed, whole.length - columns * rows);
    const text = sanitizeText(whole.slice(start)).replaceAll("\t", "    ");
    if (text === "") return [];
    const separator = this.#message.printed === 0 && this.#hasPrinted ? [""] : [];
    const wrapped = wrapText(text, columns).slice(-Math.max(1, rows - LIVE_OUTPUT_ROWS - 3));
    return [...separator, ...wrapped, ""];
  }

  #outputRows(columns: number): string[] {
    const running = [...this.#commands.values()].at(-1);
    if (!running) return [];
    return formatOutput(running.output, LIVE_OUTPUT_ROWS)
      .slice(-LIVE_OUTPUT_ROWS)
      .map((line) => this.#style.dim(truncateText(`  ${line.replaceAll("\t", "    ")}`, columns)));
  }

  #status(columns: number, startedAt: number): string {
    const command = [...this.#commands.values()].at(-1)?.command;
    const tokens =
      formatCount(this.#tokens) + (this.#budget === undefined ? "" : ` of ${formatCount(this.#budget)}`);
    const parts = [
      formatDuration(this.#now() - startedAt),
      `${tokens} tokens`,
      command === undefined ? this.#activity : `$ ${command}`,
    ];
    return this.#style.dim(truncateText(`● ${parts.join(" · ")}`, columns));
  }
}
