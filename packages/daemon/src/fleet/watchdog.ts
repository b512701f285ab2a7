import type { FleetLimits } from "./limits.ts";

// Pure, as the lease machine: the watchdog's program carries out the actions.

export type WatchdogLimits = Pick<FleetLimits, "leaseMs" | "freezeMs" | "frozenKillMs">;

/** The share of the time between freeze and end of the lease that is kept for a busy machine. */
const MARGIN = 0.2;

/**
 * How long an app-server of a killed daemon may run on in a fleet. The daemon may have died just before it would have stopped the
 * app-server, which has to be gone before another node takes its sessions over.
 */
export function orphanGraceMs({ leaseMs, freezeMs }: Pick<FleetLimits, "leaseMs" | "freezeMs">): number {
  return (leaseMs - freezeMs) * (1 - MARGIN);
}

export interface WatchdogState {
  /** As in the lease machine. */
  readonly renewedAt: number;
  readonly frozenAt: number | undefined;
  readonly isKilled: boolean;
  /** Whether the daemon has died. */
  readonly isAlone: boolean;
}

export type WatchdogEvent =
  | { readonly type: "tick"; readonly at: number }
  /** The daemon holds its lease, and has given up what other nodes have taken. */
  | { readonly type: "renewed"; readonly sentAt: number; readonly at: number }
  /** The daemon has lost its lease for good. */
  | { readonly type: "fenced"; readonly at: number }
  /** The daemon has died. */
  | { readonly type: "orphaned"; readonly at: number };

/** `kill_orphans`: kill the app-servers, unless a new boot of the daemon has attached to them. Then the watchdog ends. */
export type WatchdogAction = "freeze" | "thaw" | "kill" | "kill_orphans";

export interface WatchdogStep {
  readonly state: WatchdogState;
  readonly actions: readonly WatchdogAction[];
}

export function startWatchdog(renewedAt: number): WatchdogState {
  return { renewedAt, frozenAt: undefined, isKilled: false, isAlone: false };
}

/** Does what the lease machine does, for a daemon that hangs, and ends the app-servers of one that has died. */
export function stepWatchdog(
  state: WatchdogState,
  event: WatchdogEvent,
  limits: WatchdogLimits,
): WatchdogStep {
  const { at } = event;
  switch (event.type) {
    case "tick":
      return check(state, at, limits);
    case "renewed": {
      const renewedAt = Math.max(state.renewedAt, event.sentAt);
      const next = { ...state, renewedAt };
      if (at - renewedAt >= limits.freezeMs) return check(next, at, limits);
      const isFrozen = state.frozenAt !== undefined && !state.isKilled;
      return {
        state: { ...next, frozenAt: undefined, isKilled: false },
        actions: isFrozen ? ["thaw"] : [],
      };
    }
    case "fenced":
      return { state: { ...state, isKilled: true }, actions: ["kill"] };
    case "orphaned":
      return check({ ...state, isAlone: true }, at, limits);
  }
}

function check(state: WatchdogState, at: number, limits: WatchdogLimits): WatchdogStep {
  const { renewedAt, frozenAt, isKilled, isAlone } = state;
  if (isAlone) {
    // The keepers of the app-servers end them after the grace period, if they live.
    const endAt = renewedAt + limits.freezeMs + orphanGraceMs(limits);
    return { state, actions: frozenAt !== undefined || at >= endAt ? ["kill_orphans"] : [] };
  }
  if (frozenAt === undefined && at - renewedAt >= limits.freezeMs) {
    return { state: { ...state, frozenAt: at }, actions: ["freeze"] };
  }
  if (frozenAt !== undefined && !isKilled && at - frozenAt >= limits.frozenKillMs) {
    return { state: { ...state, isKilled: true }, actions: ["kill"] };
  }
  return { state, actions: [] };
}
