import type { ApprovalSettings } from "../approval/approval-settings.ts";
import type { ProviderTool } from "../tools/provider-tools.ts";
import type { ApprovalAsk, Ask, PersonsDecision, ToolAsk, ToolOutcome } from "./ask.ts";

type Pending =
  | { readonly kind: "tool"; readonly ask: ToolAsk; readonly answer: (outcome: ToolOutcome) => void }
  | {
      readonly kind: "approval";
      readonly ask: ApprovalAsk;
      readonly answer: (decision: PersonsDecision) => void;
    };

/** What a turn is told that runs without a call: from the thread's queue, or an agent that outlived its parent's turn. */
const UNATTENDED = "No call of the AI SDK waits for this turn: nobody can be asked.";

const NOT_OFFERED = "It is not offered at the moment.";

/**
 * What a thread's turns wait for from their client, from the asking to the answer, which comes with a later call. An answer
 * may also come first: a server that is resumed repeats what it still waits for.
 */
export class AskDesk {
  readonly #pending = new Map<string, Pending>();
  readonly #unseen = new Set<Pending>();
  readonly #earlyResults = new Map<string, ToolOutcome>();
  readonly #earlyDecisions = new Map<string, PersonsDecision>();
  readonly #listeners = new Set<() => void>();
  #offered: ReadonlySet<string> = new Set();
  #approvals: ApprovalSettings | undefined;
  #providerTools: readonly ProviderTool[] = [];
  #isAttended = false;

  /** Whether something is asked that `takeUnseen` has not given yet. */
  get hasUnseen(): boolean {
    return this.#unseen.size > 0;
  }

  /** Whether something waits for an answer. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** Hears of everything that is asked, and of everything that is asked no longer. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  takeUnseen(): Ask[] {
    const asks = [...this.#unseen].map(({ ask }) => ask);
    this.#unseen.clear();
    return asks;
  }

  /** What was asked and not answered is to be shown again. */
  showAgain(): void {
    for (const pending of this.#pending.values()) this.#unseen.add(pending);
  }

  /**
   * The call that the thread works for now: its tools and who answers its approvals. A thread keeps the tools that it was
   * started with, and may call one that is no longer offered.
   */
  serve({
    tools,
    approvals,
    providerTools = [],
  }: {
    readonly tools: readonly { readonly name: string }[];
    readonly approvals?: ApprovalSettings;
    readonly providerTools?: readonly ProviderTool[];
  }): void {
    this.#offered = new Set(tools.map(({ name }) => name));
    this.#approvals = approvals;
    this.#providerTools = providerTools;
  }

  /** A provider's tool as the current call has it. Throws if that call does not have it. */
  providerTool(name: string): ProviderTool {
    const tool = this.#providerTools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(NOT_OFFERED);
    return tool;
  }

  /** Who answers the approvals of the call at hand. */
  get approvals(): ApprovalSettings | undefined {
    return this.#approvals;
  }

  /** A turn runs that a call of the model takes care of, until this is disposed of. */
  attend(): Disposable {
    this.#isAttended = true;
    return {
      [Symbol.dispose]: () => {
        this.#isAttended = false;
        // Answers that came early were for this turn, and are for no later one.
        this.forgetEarly();
      },
    };
  }

  /** Asks for a tool's result. Rejects when nobody waits for it any more. */
  async callTool(ask: ToolAsk, signal: AbortSignal): Promise<ToolOutcome> {
    if (!this.#isAttended) return { type: "error", message: UNATTENDED };
    if (!this.#offered.has(ask.toolName)) {
      return { type: "error", message: NOT_OFFERED };
    }
    return this.#ask(ask.id, this.#earlyResults, (answer) => ({ kind: "tool", ask, answer }), signal);
  }

  /** Asks for a person's decision. Rejects when nobody waits for it any more. */
  async approve(ask: ApprovalAsk, signal: AbortSignal): Promise<PersonsDecision> {
    if (!this.#isAttended) return { approved: false, reason: UNATTENDED };
    return this.#ask(ask.id, this.#earlyDecisions, (answer) => ({ kind: "approval", ask, answer }), signal);
  }

  /** A result for whoever waits for it, or asks for it later. */
  giveResult(toolCallId: string, outcome: ToolOutcome): void {
    const pending = this.#take(toolCallId);
    if (pending?.kind === "tool") pending.answer(outcome);
    else this.#earlyResults.set(toolCallId, outcome);
  }

  /** A decision for whoever waits for it, or asks for it later. */
  giveDecision(approvalId: string, decision: PersonsDecision): void {
    const pending = this.#take(approvalId);
    if (pending?.kind === "approval") pending.answer(decision);
    else this.#earlyDecisions.set(approvalId, decision);
  }

  /** Answers everything with a no, for this reason; gives the items that this was about. */
  refuseAll(reason: string): string[] {
    const asks = [...this.#pending.values()].map(({ ask }) => ask);
    for (const { kind, id } of asks) {
      if (kind === "tool") this.giveResult(id, { type: "error", message: reason });
      else this.giveDecision(id, { approved: false, reason });
    }
    return asks.flatMap((ask) => (ask.kind === "tool" ? [ask.id] : (ask.itemId ?? [])));
  }

  /** Answers that nobody asked for stay unused. */
  forgetEarly(): void {
    this.#earlyResults.clear();
    this.#earlyDecisions.clear();
  }

  async #ask<Answer>(
    id: string,
    early: Map<string, Answer>,
    open: (answer: (value: Answer) => void) => Pending,
    signal: AbortSignal,
  ): Promise<Answer> {
    signal.throwIfAborted();
    const known = early.get(id);
    if (known !== undefined) {
      early.delete(id);
      return known;
    }
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const withdraw = (): void => {
      this.#take(id);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", withdraw, { once: true });
    const pending = open(resolve);
    this.#pending.set(id, pending);
    this.#unseen.add(pending);
    this.#tell();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
    }
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    this.#unseen.delete(pending);
    this.#tell();
    return pending;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
