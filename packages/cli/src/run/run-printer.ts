import type { SessionEvent } from "@codexkit/daemon/client";
import type { CodexEvent, Thread, TokenUsage, TurnResult } from "codexkit";
import type { CliContext } from "../context.ts";
import { formatCount, formatDuration } from "../render/format-values.ts";
import { TurnView } from "../render/turn-view.ts";
import { LiveOutput, STATUS_INTERVAL_MS } from "../terminal/live-output.ts";
import { revealLine, sanitizeText } from "../terminal/sanitize.ts";
import type { TerminalPrompts } from "./terminal-prompts.ts";
import { eventToJson } from "./event-json.ts";

/** Prints a task, as text for people or as JSON for programs. */
export interface RunPrinter extends Disposable {
  /** Shows what the task is waiting for. */
  setActivity(activity: string): void;
  /** Prints an event of a thread, or of a session, whose events have the same members. */
  handle(event: CodexEvent | SessionEvent): void;
  reportThread(thread: Thread): void;
  reportDecision(decision: "allow" | "deny", reason: string): void;
  /** Prints where to answer an approval that this program can't ask about. */
  reportWait(approvalId: string): void;
  /** Prints how to answer an approval for which no process waits any more. */
  reportParked(approvalId: string): void;
  /** @param name What the turn belongs to, such as `thread 0199…`. */
  reportEnd(result: TurnEnd, name: string): void;
  /** Opens prompts for the user at the terminal. Resolves to undefined without a terminal. */
  openPrompts(): Promise<TerminalPrompts | undefined>;
}

/** How a turn ended. The tokens of a session may be unknown. */
type TurnEnd = Pick<TurnResult, "status" | "finalResponse"> & { readonly usage: TokenUsage | null };

interface PrinterOptions {
  readonly cwd: string;
  readonly budget?: number | undefined;
}

export function createPrinter(context: CliContext, options: PrinterOptions): RunPrinter {
  return context.json ? createJsonPrinter(context) : new TextPrinter(context, options);
}

function createJsonPrinter({ stdout, stderr }: CliContext): RunPrinter {
  return {
    setActivity: () => undefined,
    handle: (event) => void stdout.write(`${eventToJson(event as CodexEvent)}\n`),
    reportThread: ({ id: threadId, settings: { model, cwd, sandbox, approvalPolicy, reasoningEffort } }) => {
      const settings = { model, cwd, sandbox, approvalPolicy, reasoningEffort };
      stdout.write(`${JSON.stringify({ type: "thread.started", threadId, settings })}\n`);
    },
    reportDecision: () => undefined,
    reportWait: (approvalId) => void stderr.write(`${describeWait(approvalId)}\n`),
    reportParked: (approvalId) => void stderr.write(`${describeParked(approvalId)}\n`),
    reportEnd: () => undefined,
    openPrompts: () => Promise.resolve(undefined),
    [Symbol.dispose]: () => undefined,
  };
}

function describeWait(approvalId: string): string {
  return `Waiting for an answer. Run: codexkit inbox show ${approvalId}`;
}

function describeParked(approvalId: string): string {
  return `The request is parked. The task continues when it is answered, even after a restart of the daemon. Run: codexkit inbox approve ${approvalId} (or decline)`;
}

/**
 * On a terminal, everything goes to stdout. Otherwise the last message goes to stdout and the rest to stderr.
 */
class TextPrinter implements RunPrinter {
  readonly #context: CliContext;
  readonly #cwd: string;
  readonly #output: LiveOutput;
  readonly #view: TurnView;
  readonly #ticker: NodeJS.Timeout;
  readonly #startedAt = Date.now();

  constructor(context: CliContext, { cwd, budget }: PrinterOptions) {
    this.#cwd = cwd;
    const { stdout, stderr, env } = context;
    this.#context = context;
    const stream = stdout.isTTY ? stdout : stderr;
    this.#output = new LiveOutput(stream, stream.isTTY && env["TERM"] !== "dumb");
    const view = new TurnView({
      output: this.#output,
      style: this.#style,
      holdsLastMessage: !stdout.isTTY,
      budget,
      cwd,
    });
    this.#view = view;
    this.#output.setRows(() => ({ rows: view.rows() }));
    this.#ticker = setInterval(() => this.#output.update(), STATUS_INTERVAL_MS).unref();
    view.begin();
  }

  get #style() {
    return this.#context.stdout.isTTY ? this.#context.style : this.#context.errorStyle;
  }

  setActivity(activity: string): void {
    this.#view.setActivity(activity);
  }

  handle(event: CodexEvent | SessionEvent): void {
    this.#view.handle(event as CodexEvent);
  }

  reportThread(): void {
    this.#view.setActivity("thinking");
  }

  reportDecision(decision: "allow" | "deny", reason: string): void {
    const text = revealLine(reason);
    const line =
      decision === "deny" ? `${this.#style.red("denied:")} ${text}` : this.#style.dim(`allowed: ${text}`);
    this.#view.block([line]);
  }

  reportWait(approvalId: string): void {
    this.#view.block([this.#style.yellow(describeWait(approvalId))]);
    this.#view.setActivity("waiting for an answer");
  }

  reportParked(approvalId: string): void {
    this.#view.block([this.#style.yellow(describeParked(approvalId))]);
    this.#view.setActivity("waiting for an answer");
  }

  reportEnd({ status, finalResponse, usage }: TurnEnd, name: string): void {
    this.#view.end();
    const time = formatDuration(Date.now() - this.#startedAt);
    const tokens = usage ? `${formatCount(usage.totalTokens)} tokens · ` : "";
    const summary = `${status} in ${time} · ${tokens}${name}`;
    this.#view.block([this.#style.dim(summary)]);
    this.#output.flush();
    const { stdout } = this.#context;
    if (!stdout.isTTY && finalResponse !== "") stdout.write(`${sanitizeText(finalResponse.trimEnd())}\n`);
  }

  async openPrompts(): Promise<TerminalPrompts | undefined> {
    if (!this.#context.isInteractive || !this.#output.isLive) return undefined;
    const { TerminalPrompts: Prompts } = await import("./terminal-prompts.ts");
    return new Prompts({
      context: this.#context,
      output: this.#output,
      view: this.#view,
      style: this.#style,
      cwd: this.#cwd,
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticker);
    this.#view.end();
    this.#output[Symbol.dispose]();
  }
}
