import type { Thread } from "codexkit";
import type { ApprovalSettings } from "../options/approval-settings.ts";
import type { ProviderTool } from "../tools/provider-tools.ts";
import type {
  ApprovalRequest,
  ClientRequest,
  UserDecision,
  ToolCallRequest,
  ToolOutcome,
} from "./client-request.ts";

type Pending =
  | {
      readonly kind: "tool";
      readonly request: ToolCallRequest;
      readonly answer: (outcome: ToolOutcome) => void;
    }
  | {
      readonly kind: "approval";
      readonly request: ApprovalRequest;
      readonly answer: (decision: UserDecision) => void;
    };

/** The answer in a turn that no call serves: a queued turn, or a subagent's turn that outlived its parent's. */
const NO_CLIENT = "No call of the AI SDK is waiting for this turn, so there is no client to ask.";

const NOT_OFFERED = "It is not offered at the moment.";

/**
 * Holds the requests of a thread's turns to their client until a later call delivers the answers. An answer can also arrive
 * before its request, because a server repeats pending requests to a client that resumes the thread.
 */
export class ClientRequestBroker {
  readonly #pending = new Map<string, Pending>();
  readonly #unreported = new Set<Pending>();
  readonly #earlyResults = new Map<string, ToolOutcome>();
  readonly #earlyDecisions = new Map<string, UserDecision>();
  readonly #listeners = new Set<() => void>();
  #offered: ReadonlySet<string> = new Set();
  #approvals: ApprovalSettings | undefined;
  #providerTools: readonly ProviderTool[] = [];
  #isOpen = false;
  /** The thread whose turns make the requests. Undefined until the thread is open. */
  thread: Pick<Thread, "id" | "steer"> | undefined;

  /** Whether there are requests that `takeUnreported` has not returned yet. */
  get hasUnreported(): boolean {
    return this.#unreported.size > 0;
  }

  /** Whether any request is pending. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls the listener when a request is added, answered or withdrawn. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  get unreported(): readonly ClientRequest[] {
    return [...this.#unreported].map(({ request }) => request);
  }

  takeUnreported(): readonly ClientRequest[] {
    const requests = this.unreported;
    this.#unreported.clear();
    return requests;
  }

  /** Whether the current call offers a tool of this name. */
  isOffered(toolName: string): boolean {
    return this.#offered.has(toolName);
  }

  /** Marks all pending requests as unreported. */
  reportAgain(): void {
    for (const pending of this.#pending.values()) this.#unreported.add(pending);
  }

  /**
   * Sets the current call's tools and approval settings. A thread keeps the tools that it was started with, so it may call one
   * that is no longer offered.
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

  /** Returns the current call's version of a provider tool. Throws if the call does not have it. */
  providerTool(name: string): ProviderTool {
    const tool = this.#providerTools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(NOT_OFFERED);
    return tool;
  }

  /** The current call's approval settings. */
  get approvals(): ApprovalSettings | undefined {
    return this.#approvals;
  }

  /** Accepts requests until disposed. Held while a model call serves the turn. */
  openForTurn(): Disposable {
    this.#isOpen = true;
    return {
      [Symbol.dispose]: () => {
        this.#isOpen = false;
        // Early answers are valid only for this turn.
        this.clearEarlyAnswers();
      },
    };
  }

  /** Requests a tool's result from the client. Rejects when the signal aborts. */
  async callTool(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    if (!this.#isOpen) return { type: "error", message: NO_CLIENT };
    if (!this.isOffered(request.toolName)) {
      return { type: "error", message: NOT_OFFERED };
    }
    return this.#request(
      request.id,
      this.#earlyResults,
      (answer) => ({ kind: "tool", request, answer }),
      signal,
    );
  }

  /** Requests the user's decision. Rejects when the signal aborts. */
  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<UserDecision> {
    if (!this.#isOpen) return { approved: false, reason: NO_CLIENT };
    return this.#request(
      request.id,
      this.#earlyDecisions,
      (answer) => ({ kind: "approval", request, answer }),
      signal,
    );
  }

  /** Answers a tool call. If the call has not been requested yet, the answer is kept for it. */
  submitResult(toolCallId: string, outcome: ToolOutcome): void {
    const pending = this.#take(toolCallId);
    if (pending?.kind === "tool") pending.answer(outcome);
    else this.#earlyResults.set(toolCallId, outcome);
  }

  /** Answers an approval. If it has not been requested yet, the answer is kept for it. */
  submitDecision(approvalId: string, decision: UserDecision): void {
    const pending = this.#take(approvalId);
    if (pending?.kind === "approval") pending.answer(decision);
    else this.#earlyDecisions.set(approvalId, decision);
  }

  /** Rejects all pending requests with the reason. Returns their item ids. */
  rejectAll(reason: string): string[] {
    const requests = [...this.#pending.values()].map(({ request }) => request);
    for (const { kind, id } of requests) {
      if (kind === "tool") this.submitResult(id, { type: "error", message: reason });
      else this.submitDecision(id, { approved: false, reason });
    }
    return requests.flatMap((request) => (request.kind === "tool" ? [request.id] : (request.itemId ?? [])));
  }

  /** Discards answers that have no request. */
  clearEarlyAnswers(): void {
    this.#earlyResults.clear();
    this.#earlyDecisions.clear();
  }

  async #request<Answer>(
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
    this.#unreported.add(pending);
    this.#notify();
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
    this.#unreported.delete(pending);
    this.#notify();
    return pending;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
