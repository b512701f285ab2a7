import { type ApprovalResolvedEvent, type CodexEvent, isTurnEnd, type QuestionResolvedEvent } from "codexkit";
import type { AppServer } from "../codex/app-server.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { Ownership } from "../database/ownership.ts";
import type { Journal } from "../journal/journal.ts";
import type { AcceptedMessages } from "./accepted-messages.ts";
import type { AgentRollouts } from "./agent-rollouts.ts";
import { EventMapper } from "./event-mapper.ts";
import { reactsToInterruption } from "./interrupted-turn.ts";
import { isLost } from "./problems.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionState } from "./session-state.ts";
import type { UsageLimits } from "./usage-limits.ts";

export interface SessionEventsDeps {
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly journal: Journal;
  readonly rollouts: RolloutShipper;
  readonly agents: AgentRollouts;
  readonly approvals: SessionApprovals;
  readonly accepted: AcceptedMessages;
  readonly limits: UsageLimits;
  readonly onTurnStart: () => void;
  readonly onTurnEnd: (end: "completed" | "failed" | "interrupted", isOwnThread: boolean) => void;
  readonly onError: (error: unknown) => void;
}

/** Events whose transaction also stores the new lines of the thread's rollout file. */
const SHIPS: ReadonlySet<CodexEvent["type"]> = new Set([
  "item.completed",
  "approval.requested",
  "question.requested",
  "usage.updated",
  "turn.completed",
  "turn.failed",
  "turn.interrupted",
]);

/** Writes the events of a session's threads to the journal, in order, without waiting for the store. */
export class SessionEvents {
  readonly mapper = new EventMapper();
  readonly #deps: SessionEventsDeps;
  /** Events that arrived while the history is compared with the journal. */
  #held: { event: CodexEvent; server: AppServer }[] | undefined;

  constructor(deps: SessionEventsDeps) {
    this.#deps = deps;
  }

  receive(event: CodexEvent, server: AppServer): void {
    if (this.#held) this.#held.push({ event, server });
    else this.#store(event, server);
  }

  /** Holds events back until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { event, server } of held) this.#store(event, server);
  }

  append(events: readonly NewSessionEvent[], also?: ReturnType<RolloutShipper["collect"]>): void {
    const { journal, owner, onError } = this.#deps;
    journal.enqueue(owner, events, { also, onError });
  }

  #store(event: CodexEvent, server: AppServer): void {
    // The connection is lost, but the turn and its requests may continue. Their state is read from the history after the reconnect.
    if (server.hasEnded && isConsequenceOfLoss(event)) return;
    // Requests are withdrawn before the connection is known to be lost.
    if (
      isRequestEnd(event) &&
      event.outcome.by === "withdrawn" &&
      this.#deps.approvals.isLost(event.requestId)
    )
      return;
    // A former owner in this process closed the thread. The turn continues, and its end arrives later.
    if (event.type === "turn.failed" && event.error.code === "closed") return;
    const { state, rollouts, agents, approvals } = this.#deps;
    this.#observe(event);
    agents.observe(event, server.codex);
    const mapped = this.mapper.map(event);
    if (mapped) {
      const threadId = event.threadId ?? state.threadId ?? "";
      const ship = SHIPS.has(event.type) ? rollouts.collect(threadId) : undefined;
      const cut = this.#cutStep(event);
      this.append([mapped], cut ? joinSteps(ship, cut) : ship);
    }
    if (event.type === "approval.requested" || event.type === "question.requested") {
      approvals.published(event.requestId);
    } else if (isRequestEnd(event)) {
      approvals.resolved(event);
    }
  }

  /** Records that the daemon itself has cut off a turn, so that the next owner reacts to it. */
  #cutStep(event: CodexEvent): Step | undefined {
    const { state, owner } = this.#deps;
    const { isCutOff, settings, threadId } = state;
    if (event.type !== "turn.interrupted" || !isCutOff || event.threadId !== threadId) return undefined;
    if (!reactsToInterruption(settings)) return undefined;
    return async (trx) => {
      await trx
        .updateTable("session")
        .set({ interrupted_turn_id: event.turnId })
        .where("id", "=", owner.sessionId)
        .execute();
    };
  }

  #observe(event: CodexEvent): void {
    const { state, accepted, approvals, limits, rollouts, onTurnStart, onTurnEnd } = this.#deps;
    const isOwnThread = event.threadId === state.threadId;
    if (event.type === "turn.started") {
      approvals.repeatedTools.turnStarted(event.turnId);
      if (!isOwnThread) return;
      state.activeTurnId = event.turnId;
      onTurnStart();
    } else if (isTurnEnd(event)) {
      accepted.turnEnded(event.turnId);
      approvals.repeatedTools.turnEnded(event.turnId);
      if (isOwnThread) state.activeTurnId = undefined;
      onTurnEnd(event.result.status, isOwnThread);
    } else if (event.type === "usage.updated") {
      limits.add(event.threadId, event.total);
    } else if (event.type === "thread.started") {
      const { id, path } = event.thread;
      // Until the file's stored length is known, its lines wait for a later event.
      if (isOwnThread && path !== null) rollouts.follow(id, path, "main").catch(() => {});
    } else if (event.type === "item.completed") {
      const { item } = event;
      // Not at the start of the item, because only this event stores the lines of the thread's file. If the command were finished
      // without them and the node were lost, the message would be in no thread and would not be sent again.
      if (item.type === "userMessage" && item.clientId !== null) accepted.accept(item.clientId, event.turnId);
    }
  }
}

type Step = NonNullable<ReturnType<RolloutShipper["collect"]>>;

function joinSteps(first: Step | undefined, second: Step): Step {
  return async (trx) => {
    await first?.(trx);
    await second(trx);
  };
}

function isConsequenceOfLoss(event: CodexEvent): boolean {
  if (event.type === "turn.failed") return isLost(event.error);
  return isRequestEnd(event) && event.outcome.by === "withdrawn";
}

function isRequestEnd(event: CodexEvent): event is ApprovalResolvedEvent | QuestionResolvedEvent {
  return event.type === "approval.resolved" || event.type === "question.resolved";
}
