import { type DaemonClient, DaemonClientError, type SessionEvent } from "@codexkit/daemon/client";
import type { CliContext } from "../context.ts";
import { isAnswerable } from "../daemon/approval-state.ts";
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
  readonly #parked = new Set<string>();
  readonly #checks: Promise<void>[] = [];
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
      case "inbox.parked":
        this.#parked.add(event.approvalId);
        this.#options.printer.reportParked(event.approvalId);
        break;
      case "inbox.answered":
      case "inbox.withdrawn":
      case "inbox.expired":
        this.#open.get(event.approvalId)?.abort();
        if (event.type !== "inbox.withdrawn" && this.#parked.delete(event.approvalId)) {
          const check = this.#checkParked(event.approvalId);
          // `settled` rejects with this error.
          check.catch(() => undefined);
          this.#checks.push(check);
        }
        break;
      case "approval.resolved": {
        const { decision, reason = "declined" } = event.outcome;
        if (decision === "decline" || decision === "cancel") this.#deny(reason);
        break;
      }
      default:
        break;
    }
  }

  /** Resolves when `denials` is complete. */
  async settled(): Promise<void> {
    await Promise.all(this.#checks);
  }

  #deny(reason: string): void {
    this.denials.push(reason);
    this.#options.printer.reportDecision("deny", reason);
  }

  /** Finds the answer of a parked approval. Codex reports no outcome for it. */
  async #checkParked(approvalId: string): Promise<void> {
    const { client, context } = this.#options;
    const { answer, offers, request, state } = await client.request("GET /inbox/{approvalId}", {
      params: { approvalId },
      signal: context.signal,
    });
    if (request.kind === "userInput" || request.kind === "elicitation") return;
    const isAccepted = offers.some(({ id, accepts }) => accepts && id === answer?.["offer"]);
    const { reason } = answer ?? {};
    if (isAccepted) return;
    this.#deny(
      typeof reason === "string" ? reason : state === "expired" ? "No answer arrived in time." : "declined",
    );
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
      if (!isAnswerable(approval)) return;
      const lines = formatApproval(approval, cwd, context.style);
      const answer = await prompts.ask(lines, signal, (streams) => promptApproval(approval, streams));
      if (signal.aborted) return;
      if (answer === undefined) lifetime.interrupt();
      else if (answer === "later") printer.reportWait(approvalId);
      else await client.answer(approvalId, answer, { signal });
    } catch (error) {
      if (signal.aborted) return;
      if (!DaemonClientError.is(error)) throw error;
      // It was answered elsewhere, or the turn has ended. After other errors, it still needs an answer.
      if (error.status !== 409) printer.reportWait(approvalId);
    } finally {
      this.#open.delete(approvalId);
    }
  }
}
