import type { FleetLimits } from "./limits.ts";

// Pure, like the lease machine: `watchdog-program.ts` carries out the actions.

export type WatchdogLimits = Pick<FleetLimits, "leaseMs" | "freezeMs" | "frozenKillMs">;

/** Fraction of the time between the freeze and the end of the lease that is reserved as a margin for a busy machine. */
const MARGIN = 0.2;

/**
 * How long an app-server of a killed daemon may keep running in a fleet. The daemon may have died just before it would have stopped
 * the app-server, and the app-server must be gone before another node takes over its sessions.
 */
export function orphanGraceMs({ leaseMs, freezeMs }: Pick<FleetLimits, "leaseMs" | "freezeMs">): number {
  return (leaseMs - freezeMs) * (1 - MARGIN);
}

export interface WatchdogState {
  /** As in `LeaseState`. */
  readonly renewedAt: number;
  readonly frozenAt: number | undefined;
  readonly isKilled: boolean;
  /** Whether the daemon has died. */
  readonly isAlone: boolean;
}

export type WatchdogEvent =
  | { readonly type: "tick"; readonly at: number }
  /** The daemon holds its lease, and has given up the sessions that other nodes have claimed. */
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

/** Acts like the lease machine for a daemon that hangs, and ends the app-servers of a daemon that has died. */
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
    // If the keepers of the app-servers are alive, they end them after the grace period anyway.
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
