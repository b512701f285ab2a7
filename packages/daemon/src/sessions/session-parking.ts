import { raceAbort } from "@codexkit/rpc/async";
import type { ParkReason } from "../inbox/parked-inbox.ts";
import { NO_RULES, type RememberedRules, rememberedRules } from "../policy/remembered-rules.ts";
import type { AgentRollouts } from "./agent-rollouts.ts";
import { DeliveryStop } from "./delivery-stop.ts";
import { parkThread } from "./park-thread.ts";
import { ParkedRequests, type ParkedRequestsDeps } from "./parked-requests.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionThread } from "./session-thread.ts";

export interface SessionParkingDeps extends Omit<ParkedRequestsDeps, "load" | "unload" | "onRemembered"> {
  readonly thread: SessionThread;
  readonly load: ParkedRequestsDeps["load"];
  readonly approvals: SessionApprovals;
  readonly agents: AgentRollouts;
  readonly ignoreEvents: () => void;
  /** Called when parking has ended, successfully or not. */
  readonly onParked: () => void;
  readonly onWarning: (error: unknown, message: string) => void;
}

/** Parks the requests of a session and delivers their answers. The two never overlap. */
export class SessionParking {
  readonly requests: ParkedRequests;
  readonly #deps: SessionParkingDeps;
  #parking: Promise<number> | undefined;
  #delivery: { readonly stop: DeliveryStop; readonly delivered: Promise<void> } | undefined;
  #rules = NO_RULES;

  constructor(deps: SessionParkingDeps) {
    this.#deps = deps;
    this.requests = new ParkedRequests({
      ...deps,
      unload: () => deps.thread.unload(),
      onRemembered: () => this.loadRules(),
    });
  }

  /** Whether answers of parked requests are being delivered. */
  get isDelivering(): boolean {
    return this.#delivery !== undefined;
  }

  /** The rules that answers of parked requests have added to the session's policy. */
  get rules(): RememberedRules {
    return this.#rules;
  }

  async loadRules(): Promise<void> {
    const { session, owner } = this.#deps;
    this.#rules = rememberedRules(await session.database.parked.remembered(owner.sessionId));
  }

  /** Resolves when nothing is being parked. Never rejects. */
  async parked(): Promise<void> {
    await this.#parking?.catch(() => {});
  }

  async deliver(): Promise<void> {
    const { session, owner } = this.#deps;
    using stop = new DeliveryStop(session.database, owner.sessionId);
    const delivered = this.requests.deliver(stop.signal);
    this.#delivery = { stop, delivered };
    try {
      await delivered;
    } finally {
      this.#delivery = undefined;
      session.onChange();
    }
  }

  /** Stops a delivery, and waits for its end until the limit aborts. */
  async stopDelivery(limit: AbortSignal): Promise<void> {
    if (!this.#delivery) return;
    this.#delivery.stop.stop();
    await raceAbort(this.#delivery.delivered, limit).catch(() => {});
  }

  /** Resolves when nothing is being delivered. Never rejects. */
  async delivered(): Promise<void> {
    await this.#delivery?.delivered.catch(() => {});
  }

  /**
   * Stores the requests that wait for a person, and releases the thread. Its further events are ignored, and what Codex writes
   * while it ends the turn is removed from the thread's file before the thread is continued. Returns the number of parked requests.
   */
  park(reason: ParkReason): Promise<number> {
    this.#parking ??= this.#park(reason).finally(() => {
      this.#parking = undefined;
      this.#deps.onParked();
    });
    return this.#parking;
  }

  async #park(reason: ParkReason): Promise<number> {
    const { session, thread, approvals, owner, state, rollouts, agents, ignoreEvents, onWarning } =
      this.#deps;
    const { loaded } = thread;
    if (!loaded || approvals.openCount === 0) return 0;
    const { database } = session;
    const reload = async (): Promise<void> => {
      await thread.unload();
      approvals.disconnected();
      thread.requireRecovery("The requests could not be parked.");
    };
    const parts = { database, owner, state, rollouts, approvals, agents, ignoreEvents, reload, onWarning };
    const count = await parkThread(loaded, reason, parts);
    if (count === 0) return 0;
    this.requests.changed();
    await thread.unload();
    approvals.disconnected();
    session.onChange();
    return count;
  }
}
