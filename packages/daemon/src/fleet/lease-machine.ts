import type { FleetLimits } from "./limits.ts";

// Pure: all times are milliseconds of a monotonic clock of this node, which the caller reads. `NodeLease` carries out the actions.

export type LeaseLimits = Pick<FleetLimits, "leaseMs" | "renewMs" | "freezeMs" | "frozenKillMs">;

/** Delay before a failed renewal is retried, as a fraction of the renewal interval. */
const RETRY = 0.2;

export interface LeaseState {
  /**
   * held: the app-servers may act. frozen: they are stopped, because the lease may end before a renewal succeeds. lost: the store
   * has ended the lease, so all sessions have other owners or none.
   */
  readonly phase: "held" | "frozen" | "lost";
  /**
   * When the newest successful renewal was sent. The store may have processed it at any time since then, so the lease ends no
   * earlier than `leaseMs` after this time.
   */
  readonly renewedAt: number;
  /** When the first renewal of the current series of successes was sent. Undefined after a failure. */
  readonly unbrokenSince: number | undefined;
  /** When the pending request was sent. Undefined if none is pending. */
  readonly pendingSince: number | undefined;
  readonly nextRequestAt: number;
  readonly frozenAt: number | undefined;
  /** Whether the app-servers have been killed since the freeze. */
  readonly isKilled: boolean;
}

export type LeaseEvent =
  | { readonly type: "tick"; readonly at: number }
  /**
   * The store has renewed the lease, or registered a new one. If `needsCheck` was true before, the caller has already given up the
   * sessions that other nodes took in the meantime.
   */
  | { readonly type: "renewed"; readonly sentAt: number; readonly at: number }
  /** The request timed out or failed. The store may have renewed the lease nevertheless. */
  | { readonly type: "failed"; readonly at: number }
  /** The store no longer has the lease, so it can't be renewed. */
  | { readonly type: "fenced"; readonly at: number };

export type LeaseAction =
  /** Send a renewal. The outcome is the next event that is not a tick. */
  | "renew"
  /** Register the node again. The outcome is `renewed` or `failed`. */
  | "register"
  | "freeze"
  | "thaw"
  | "kill"
  /** Give up all sessions, because they have other owners. */
  | "abandon";

export interface LeaseStep {
  readonly state: LeaseState;
  /** Carry them out in this order. */
  readonly actions: readonly LeaseAction[];
}

/** The initial state, after the first registration of the node. */
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

/**
 * Whether the lease may have ended since the newest renewal. Then the caller must check which sessions the node still owns before
 * the app-servers continue.
 */
export function needsCheck({ phase, renewedAt }: LeaseState, at: number, { freezeMs }: LeaseLimits): boolean {
  return phase !== "held" || at - renewedAt >= freezeMs;
}

/** Whether the node may claim sessions that have no owner. */
export function mayClaim({ phase, renewedAt }: LeaseState, at: number, { freezeMs }: LeaseLimits): boolean {
  return phase === "held" && at - renewedAt < freezeMs;
}

/**
 * Whether the node may take over sessions of nodes whose lease has ended. After an outage of the store all leases have ended, so
 * every node first gets the duration of a lease to renew its own.
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
  // The response was read too late to prove that the lease is still held.
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
    // Freeze before sending a request, because a request takes time.
    return { state: { ...state, phase: "frozen", frozenAt: at }, actions: ["freeze", ...actions] };
  }
  const { phase, frozenAt = at, isKilled } = state;
  if (phase === "frozen" && !isKilled && at - frozenAt >= frozenKillMs) {
    return { state: { ...state, isKilled: true }, actions: ["kill", ...actions] };
  }
  return { state, actions };
}
