import {
  type DaemonClient,
  DaemonClientError,
  type Session,
  type SessionEvent,
} from "@codexkit/daemon/client";
import type { CodexEvent } from "codexkit";
import { LineEditor } from "../input/line-editor.ts";
import type { CliContext } from "../context.ts";
import { formatCount, formatDuration } from "../render/format-values.ts";
import { TurnView } from "../render/turn-view.ts";
import { lifetime } from "../process/lifetime.ts";
import { formatUserMessage } from "../session/print-session.ts";
import { LiveOutput, STATUS_INTERVAL_MS } from "../terminal/live-output.ts";
import { revealLine, sanitizeText } from "../terminal/sanitize.ts";
import { ApprovalPrompts } from "./approval-prompts.ts";

interface ScreenOptions {
  readonly client: DaemonClient;
  readonly session: Session;
  readonly context: CliContext;
  readonly onExit: () => void;
}

/** How long the daemon may take to process a message or an interrupt. */
const COMMAND_MS = 20_000;

/** Prints a session's events. On a terminal, it also shows an input line and asks about approvals. */
export class SessionScreen implements AsyncDisposable {
  readonly #options: ScreenOptions;
  readonly #output: LiveOutput;
  readonly #view: TurnView;
  readonly #editor: LineEditor | undefined;
  readonly #approvals: ApprovalPrompts | undefined;
  readonly #ticker: NodeJS.Timeout;
  readonly #onInterrupt: Disposable | undefined;
  #turnStartedAt = 0;

  constructor(options: ScreenOptions) {
    this.#options = options;
    const { client, session, context } = options;
    const { stdin, stdout, style, env, isInteractive } = context;
    const isLive = stdout.isTTY && env["TERM"] !== "dumb";
    this.#output = new LiveOutput(stdout, isLive);
    this.#view = new TurnView({ output: this.#output, style, cwd: session.cwd });
    const title = revealLine(session.name ?? session.preview);
    this.#view.block([style.dim(`session ${session.id}${title === "" ? "" : ` · ${title}`}`)]);
    if (isLive && isInteractive) {
      const editor = new LineEditor({
        stdin,
        stdout,
        style,
        history: [],
        completions: [],
        placeholder: "Steer the turn or start the next one. Ctrl-D exits",
        onInterrupt: () => void this.#interrupt(),
        onEnd: options.onExit,
        onChange: () => this.#output.update(),
        onLine: (line) => void this.#send(line),
      });
      this.#editor = editor;
      this.#approvals = new ApprovalPrompts({
        client,
        session,
        context,
        output: this.#output,
        view: this.#view,
        editor,
      });
      this.#onInterrupt = lifetime.onInterrupt(() => void this.#interrupt());
    }
    this.#output.setRows(() => this.#rows());
    this.#ticker = setInterval(() => this.#output.update(), STATUS_INTERVAL_MS).unref();
  }

  handle(event: SessionEvent): void {
    const { style } = this.#options.context;
    switch (event.type) {
      case "turn.started":
        this.#turnStartedAt = event.at;
        this.#view.begin("thinking");
        break;
      case "turn.completed":
      case "turn.failed":
      case "turn.interrupted":
        this.#endTurn(event);
        break;
      case "inbox.opened":
        if (this.#approvals) this.#approvals.open(event.approvalId);
        else
          this.#view.block([
            style.yellow(`Waiting for an answer. Run: codexkit inbox show ${event.approvalId}`),
          ]);
        break;
      case "inbox.answered":
      case "inbox.withdrawn":
      case "inbox.expired":
        this.#approvals?.close(event.approvalId);
        break;
      case "item.completed":
        if (event.item.type === "userMessage") this.#view.block(formatUserMessage(event.item, style));
        else this.#view.handle(event);
        break;
      case "session.deleted":
        this.#view.block([style.yellow("The session was deleted.")]);
        break;
      default:
        // The view ignores events that it does not print, such as the daemon's own.
        this.#view.handle(event as unknown as CodexEvent);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#ticker);
    this.#approvals?.closeAll();
    this.#onInterrupt?.[Symbol.dispose]();
    this.#editor?.[Symbol.dispose]();
    this.#view.end();
    this.#output.setRows(() => ({ rows: [] }));
    this.#output[Symbol.dispose]();
    await this.#approvals?.settled;
  }

  #endTurn(
    event: Extract<SessionEvent, { type: "turn.completed" | "turn.failed" | "turn.interrupted" }>,
  ): void {
    const { style } = this.#options.context;
    this.#view.end();
    if (event.type === "turn.failed")
      this.#view.block([`${style.red("failed:")} ${sanitizeText(event.problem.detail)}`]);
    const { usage } = event.result;
    const parts = [
      `${event.type.slice("turn.".length)} in ${formatDuration(event.at - (this.#turnStartedAt || event.at))}`,
      ...(usage ? [`${formatCount(usage.totalTokens)} tokens`] : []),
    ];
    this.#view.block([style.dim(parts.join(" · "))]);
  }

  #rows() {
    const above = this.#view.rows();
    if (!this.#editor) return { rows: above };
    const { rows, cursor } = this.#editor.rows(this.#output.columns);
    const before = above.length > 0 ? above : [""];
    return { rows: [...before, ...rows], cursor: { ...cursor, row: cursor.row + before.length } };
  }

  /** Steers the running turn. If none is running, or it has just ended, starts the next one. */
  async #send(line: string): Promise<void> {
    const text = line.trim();
    if (text === "") return;
    const { client, session, context } = this.#options;
    await this.#report(async () => {
      if (this.#view.isRunning) {
        const steered = await client.send(session.id, text, {
          mode: "steer",
          wait: COMMAND_MS,
          signal: context.signal,
        });
        if (steered.problem?.type !== "turn_not_running") return steered;
      }
      return client.send(session.id, text, { mode: "queue", wait: COMMAND_MS, signal: context.signal });
    });
  }

  async #interrupt(): Promise<void> {
    const { client, session, context, onExit } = this.#options;
    if (!this.#view.isRunning) {
      onExit();
      return;
    }
    this.#view.setActivity("interrupting");
    await this.#report(async () =>
      client.request("POST /sessions/{sessionId}/interrupt", {
        params: { sessionId: session.id },
        signal: context.signal,
      }),
    );
  }

  /** Prints why a user's command failed. */
  async #report(run: () => Promise<{ readonly problem: { readonly detail: string } | null }>): Promise<void> {
    const { style, signal } = this.#options.context;
    try {
      const { problem } = await run();
      if (problem) this.#view.block([`${style.red("error:")} ${sanitizeText(problem.detail)}`]);
    } catch (error) {
      if (signal.aborted) return;
      const message = DaemonClientError.is(error) ? error.message : "The daemon can't be reached.";
      this.#view.block([`${style.red("error:")} ${sanitizeText(message)}`]);
    }
  }
}
