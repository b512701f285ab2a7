import { type DaemonClient, DaemonClientError, type Session } from "@codexkit/daemon/client";
import { messageOf, SerialQueue } from "@codexkit/rpc/async";
import type { LineEditor } from "../input/line-editor.ts";
import type { CliContext } from "../context.ts";
import { formatApproval } from "../inbox/format-approval.ts";
import { isAnswerable } from "../daemon/approval-state.ts";
import { promptApproval } from "../inbox/prompt-approval.ts";
import type { TurnView } from "../render/turn-view.ts";
import type { LiveOutput } from "../terminal/live-output.ts";
import { sanitizeText } from "../terminal/sanitize.ts";

interface PromptsOptions {
  readonly client: DaemonClient;
  readonly session: Session;
  readonly context: CliContext;
  readonly output: LiveOutput;
  readonly view: TurnView;
  readonly editor: LineEditor;
}

/** Asks about a session's approvals, one at a time. The editor is paused meanwhile. */
export class ApprovalPrompts {
  readonly #options: PromptsOptions;
  readonly #queue = new SerialQueue();
  readonly #closers = new Map<string, AbortController>();
  /** Resolves when no prompt is open. */
  settled: Promise<void> = Promise.resolve();

  constructor(options: PromptsOptions) {
    this.#options = options;
  }

  open(approvalId: string): void {
    const closer = new AbortController();
    this.#closers.set(approvalId, closer);
    this.settled = this.#queue
      .run(async () => this.#ask(approvalId, closer.signal))
      .catch((error: unknown) => {
        const { view, context } = this.#options;
        const message = messageOf(error);
        if (!context.signal.aborted) view.block([`${context.style.red("error:")} ${sanitizeText(message)}`]);
      });
  }

  /** Closes the prompt of an approval that was answered or withdrawn. */
  close(approvalId: string): void {
    this.#closers.get(approvalId)?.abort();
    this.#closers.delete(approvalId);
  }

  closeAll(): void {
    for (const id of this.#closers.keys()) this.close(id);
  }

  async #ask(approvalId: string, closed: AbortSignal): Promise<void> {
    const { client, session, context, output, view, editor } = this.#options;
    const signal = AbortSignal.any([closed, context.signal]);
    if (signal.aborted) return;
    const approval = await client.request("GET /inbox/{approvalId}", {
      params: { approvalId },
      signal: context.signal,
    });
    // A session's old events include approvals that have been answered since.
    if (!isAnswerable(approval) || signal.aborted) return;
    view.block(formatApproval(approval, session.cwd, context.style));
    view.setActivity("waiting for your answer");
    output.pause();
    editor.pause();
    try {
      const answer = await promptApproval(approval, {
        input: context.stdin,
        output: context.stdout,
        signal,
        onText: (typed) => editor.append(typed),
      });
      const isAnswered = answer !== undefined && answer !== "later";
      if (isAnswered && !signal.aborted) await client.answer(approvalId, answer, { signal: context.signal });
    } catch (error) {
      // It was answered elsewhere, or the turn has ended.
      if (!DaemonClientError.is(error) || error.status !== 409) throw error;
    } finally {
      // The editor is not needed when the program is ending.
      if (!context.signal.aborted) editor.resume();
      output.resume();
      view.setActivity("working");
    }
  }
}
