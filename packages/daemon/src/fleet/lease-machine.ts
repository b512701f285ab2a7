import type { FleetLimits } from "./limits.ts";

// Pure: all times are milliseconds of a monotonic clock of this node, and nothing here reads it. The runner carries out the actions.

export type LeaseLimits = Pick<FleetLimits, "leaseMs" | "renewMs" | "freezeMs" | "frozenKillMs">;

/** Of the time between renewals: how soon one that failed is tried again. */
const RETRY = 0.2;

export interface LeaseState {
  /**
   * held: the app-servers may act. frozen: they are stopped, because the lease may end before a renewal succeeds. lost: the store says
   * that the lease was ended, so that all sessions have other owners or none.
   */
  readonly phase: "held" | "frozen" | "lost";
  /**
   * When the newest renewal that succeeded was sent. The store may have carried it out at any time since then, so that the lease
   * ends at the earliest one lease after it.
   */
  readonly renewedAt: number;
  /** When the first renewal of an unbroken series of successes was sent. Undefined after a failure. */
  readonly unbrokenSince: number | undefined;
  /** When the request that has no response yet was sent. */
  readonly pendingSince: number | undefined;
  readonly nextRequestAt: number;
  readonly frozenAt: number | undefined;
  /** Whether the app-servers were killed since the freeze. */
  readonly isKilled: boolean;
}

export type LeaseEvent =
  | { readonly type: "tick"; readonly at: number }
  /**
   * The store has renewed the lease, or registered a new one. If `needsCheck` was true for the state before, sessions that other nodes
   * have taken meanwhile were given up before this event.
   */
  | { readonly type: "renewed"; readonly sentAt: number; readonly at: number }
  /** No response in time, or an error. The store may have renewed the lease all the same. */
  | { readonly type: "failed"; readonly at: number }
  /** The store has no such lease: it was ended for good. */
  | { readonly type: "fenced"; readonly at: number };

export type LeaseAction =
  /** Send a renewal. Its outcome is the next event that is not a tick. */
  | "renew"
  /** Register the node anew. Its outcome is `renewed` or `failed`. */
  | "register"
  /** Stop the app-servers. */
  | "freeze"
  /** Continue the app-servers. */
  | "thaw"
  /** Kill the app-servers. */
  | "kill"
  /** Give all sessions up: they have other owners. */
  | "abandon";

export interface LeaseStep {
  readonly state: LeaseState;
  /** To be carried out in this order. */
  readonly actions: readonly LeaseAction[];
}

/** The state after a node was registered for the first time. */
export function acquireLease(sentAt: number, { renewMs }: LeaseLimits): LeaseState {
  return {
    phase: "held",
    renewedAt: sentAt,
    unbrokenSince: sentAt,
    pendingSince: undefined,
    nextRequestAt: sentAt + renewMs,
    frozenAt: undefined,
    isKilled: false,
  };
}

export function stepLease(state: LeaseState, event: LeaseEvent, limits: LeaseLimits): LeaseStep {
  switch (event.type) {
    case "tick":
      return tick(state, event.at, limits);
    case "renewed":
      return renewed(state, event, limits);
    case "failed": {
      const nextRequestAt = event.at + limits.renewMs * RETRY;
      const failed = { ...state, pendingSince: undefined, unbrokenSince: undefined, nextRequestAt };
      return freezeInTime(failed, event.at, limits, []);
    }
    case "fenced":
      return {
        state: {
          ...state,
          phase: "lost",
          unbrokenSince: undefined,
          pendingSince: undefined,
          nextRequestAt: event.at,
          isKilled: true,
        },
        actions: ["kill", "abandon"],
      };
  }
}

/** Whether the lease may have ended since the newest renewal, so that the sessions have to be looked at before anything goes on. */
export function needsCheck({ phase, renewedAt }: LeaseState, at: number, { freezeMs }: LeaseLimits): boolean {
  return phase !== "held" || at - renewedAt >= freezeMs;
}

/** Whether the node may take sessions that have no owner. */
export function mayClaim({ phase, renewedAt }: LeaseState, at: number, { freezeMs }: LeaseLimits): boolean {
  return phase === "held" && at - renewedAt < freezeMs;
}

/**
 * Whether the node may take sessions of nodes whose lease has ended. After an outage of the store all leases have ended: each node
 * gets a whole lease to renew its own first.
 */
export function mayTakeOver(state: LeaseState, at: number, limits: LeaseLimits): boolean {
  const { unbrokenSince, renewedAt } = state;
  return (
    mayClaim(state, at, limits) && unbrokenSince !== undefined && renewedAt - unbrokenSince >= limits.leaseMs
  );
}

function tick(state: LeaseState, at: number, limits: LeaseLimits): LeaseStep {
  if (state.pendingSince !== undefined || at < state.nextRequestAt)
    return freezeInTime(state, at, limits, []);
  const request = state.phase === "lost" ? "register" : "renew";
  return freezeInTime({ ...state, pendingSince: at }, at, limits, [request]);
}

function renewed(
  state: LeaseState,
  { sentAt, at }: Extract<LeaseEvent, { type: "renewed" }>,
  limits: LeaseLimits,
): LeaseStep {
  const isUnbroken = state.unbrokenSince !== undefined && sentAt - state.renewedAt < limits.leaseMs;
  const next: LeaseState = {
    ...state,
    renewedAt: Math.max(state.renewedAt, sentAt),
    unbrokenSince: isUnbroken ? state.unbrokenSince : sentAt,
    pendingSince: undefined,
    nextRequestAt: sentAt + limits.renewMs,
  };
  // A response that was read late proves nothing about now.
  if (at - next.renewedAt >= limits.freezeMs) return freezeInTime(next, at, limits, []);
  if (state.phase === "held") return { state: next, actions: [] };
  return {
    state: { ...next, phase: "held", frozenAt: undefined, isKilled: false },
    actions: state.isKilled ? [] : ["thaw"],
  };
}

function freezeInTime(
  state: LeaseState,
  at: number,
  { freezeMs, frozenKillMs }: LeaseLimits,
  actions: readonly LeaseAction[],
): LeaseStep {
  if (state.phase === "held" && at - state.renewedAt >= freezeMs) {
    // First of all: a request takes time.
    return { state: { ...state, phase: "frozen", frozenAt: at }, actions: ["freeze", ...actions] };
  }
  const { phase, frozenAt = at, isKilled } = state;
  if (phase === "frozen" && !isKilled && at - frozenAt >= frozenKillMs) {
    return { state: { ...state, isKilled: true }, actions: ["kill", ...actions] };
  }
  return { state, actions };
}
