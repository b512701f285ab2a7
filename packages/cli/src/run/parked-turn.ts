import {
  type Approval,
  type DaemonClient,
  DaemonClientError,
  type SessionEvent,
} from "@codexkit/daemon/client";

export type TurnEndEvent = Extract<
  SessionEvent,
  { type: "turn.completed" | "turn.interrupted" | "turn.failed" }
>;

/** Whether a turn that was interrupted has ended, will be continued by another turn, or is being continued by it. */
export type ParkedOutcome = "ended" | "waits" | { readonly continuedBy: string };

/**
 * Follows the approvals of a turn, to find out whether the turn was interrupted because they were parked. Such a turn is continued
 * by another one, after its last approval has been answered.
 */
export class ParkedTurn {
  readonly #client: DaemonClient;
  readonly #signal: AbortSignal;
  /** Approvals without an answer. */
  readonly #open = new Set<string>();
  readonly #answered = new Set<string>();
  /** Parked approvals whose answers have not been delivered. */
  readonly #parked = new Set<string>();
  #wasParked = false;

  constructor(client: DaemonClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Call with each event, in their order. */
  observe(event: SessionEvent): void {
    switch (event.type) {
      case "inbox.opened":
        this.#open.add(event.approvalId);
        break;
      case "inbox.answered":
        this.#open.delete(event.approvalId);
        this.#answered.add(event.approvalId);
        break;
      case "inbox.parked":
        this.#parked.add(event.approvalId);
        this.#wasParked = true;
        break;
      case "inbox.expired":
        this.#open.delete(event.approvalId);
        break;
      case "inbox.withdrawn":
      case "inbox.delivered":
        this.#open.delete(event.approvalId);
        this.#answered.delete(event.approvalId);
        this.#parked.delete(event.approvalId);
        break;
      default:
        break;
    }
  }

  /**
   * @param end The end of the turn.
   * @param event The event that was observed last, which is `end` or a later one.
   */
  async outcomeOf(end: TurnEndEvent, event: SessionEvent): Promise<ParkedOutcome> {
    if (end.type !== "turn.interrupted") return "ended";
    if (this.#wasParked && event.type === "turn.started" && event.threadId === end.threadId) {
      this.#wasParked = false;
      this.#open.clear();
      this.#answered.clear();
      this.#parked.clear();
      return { continuedBy: event.turnId };
    }
    // The turn ends before its approvals are parked or withdrawn.
    if (this.#open.size > 0 || this.#parked.size > 0) return "waits";
    if (!this.#wasParked) return (await this.#willBeParked()) ? "waits" : "ended";
    // The last approval has been closed. No turn follows if it was withdrawn, or if its answer stops the turn.
    if (event.type === "inbox.withdrawn") return "ended";
    if (event.type !== "inbox.delivered") return "waits";
    const { answer } = await this.#read(event.approvalId);
    return answer?.["offer"] === "cancel" ? "ended" : "waits";
  }

  /** An answer that Codex has not received, or not confirmed, is parked too. Its event follows the end of the turn. */
  async #willBeParked(): Promise<boolean> {
    for (const id of this.#answered) {
      try {
        if ((await this.#read(id)).parkedAt !== null) return true;
      } catch (error) {
        // The daemon has been shut down.
        if (!DaemonClientError.is(error)) throw error;
      }
    }
    return false;
  }

  #read(approvalId: string): Promise<Approval> {
    return this.#client.request("GET /inbox/{approvalId}", { params: { approvalId }, signal: this.#signal });
  }
}
