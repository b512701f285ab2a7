import { type DaemonClient, DaemonClientError, type SessionEvent } from "@codexkit/daemon/client";
import type { CliContext } from "../context.ts";
import { formatApproval } from "../inbox/format-approval.ts";
import { promptApproval } from "../inbox/prompt-approval.ts";
import { lifetime } from "../process/lifetime.ts";
import type { TerminalPrompts } from "./terminal-prompts.ts";
import type { RunPrinter } from "./run-printer.ts";

interface SessionApprovalOptions {
  readonly client: DaemonClient;
  readonly context: CliContext;
  readonly cwd: string;
  readonly printer: RunPrinter;
  /** Undefined without a terminal: the approvals stay in the inbox. */
  readonly prompts: TerminalPrompts | undefined;
}

/**
 * Asks about a session's open approvals. They can be answered elsewhere at the same time; the first answer
 * counts.
 */
export class SessionApprovals {
  readonly #options: SessionApprovalOptions;
  readonly #open = new Map<string, AbortController>();
  /** Reasons for denied requests. */
  readonly denials: string[] = [];

  constructor(options: SessionApprovalOptions) {
    this.#options = options;
  }

  observe(event: SessionEvent): void {
    switch (event.type) {
      case "inbox.opened":
        void this.#ask(event.approvalId);
        break;
      case "inbox.answered":
      case "inbox.withdrawn":
      case "inbox.expired":
        this.#open.get(event.approvalId)?.abort();
        break;
      case "approval.resolved": {
        const { decision, reason = "declined" } = event.outcome;
        if (decision !== "decline" && decision !== "cancel") break;
        this.denials.push(reason);
        this.#options.printer.reportDecision("deny", reason);
        break;
      }
      default:
        break;
    }
  }

  async #ask(approvalId: string): Promise<void> {
    const { client, context, cwd, prompts, printer } = this.#options;
    if (!prompts) {
      printer.reportWait(approvalId);
      return;
    }
    const controller = new AbortController();
    this.#open.set(approvalId, controller);
    const signal = AbortSignal.any([context.signal, controller.signal]);
    try {
      const approval = await client.request("GET /inbox/{approvalId}", { params: { approvalId }, signal });
      if (approval.state !== "open") return;
      const lines = formatApproval(approval, cwd, context.style);
      const answer = await prompts.ask(lines, signal, (streams) => promptApproval(approval, streams));
      if (signal.aborted) return;
      if (answer === undefined) lifetime.interrupt();
      else if (answer === "later") printer.reportWait(approvalId);
      else await client.answer(approvalId, answer, { signal });
    } catch (error) {
      // It was answered elsewhere, or the turn has ended.
      if (!signal.aborted && !DaemonClientError.is(error)) throw error;
    } finally {
      this.#open.delete(approvalId);
    }
  }
}
