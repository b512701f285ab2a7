import { DaemonError } from "../errors.ts";

/** Limits of a node among the daemons of one store. Times are milliseconds. */
export interface FleetLimits {
  /** How long a node owns its sessions after its newest renewal. Default: 30,000. */
  readonly leaseMs: number;
  /** Between renewals of the lease. Default: 5,000. */
  readonly renewMs: number;
  /** One renewal. Default: 3,000. */
  readonly renewTimeoutMs: number;
  /**
   * This long after the newest renewal that succeeded was sent, the app-servers are stopped with SIGSTOP: they must not act after
   * the lease has ended. Default: 20,000.
   */
  readonly freezeMs: number;
  /** App-servers that are stopped for this long are killed. Default: 600,000. */
  readonly frozenKillMs: number;
  /** Between looks for sessions of lost nodes and for stranded ones. Default: 1,000. */
  readonly takeoverMs: number;
  /** How long a session is left to the node that had it last. Default: 2,000. */
  readonly affinityMs: number;
  /** A node whose event loop is late by more than this takes no sessions. Default: 200. */
  readonly maxEventLoopDelayMs: number;
  /** A node with a smaller share of its memory free takes no sessions. Default: 0.1. */
  readonly minFreeMemory: number;
  /** Response of another node that a request is forwarded to. Default: 30,000. */
  readonly proxyTimeoutMs: number;
  /** Validity of the token of a forwarded request. Default: 60,000. */
  readonly proxyTokenMs: number;
}

export const FLEET_LIMITS: FleetLimits = {
  leaseMs: 30_000,
  renewMs: 5_000,
  renewTimeoutMs: 3_000,
  freezeMs: 20_000,
  frozenKillMs: 600_000,
  takeoverMs: 1_000,
  affinityMs: 2_000,
  maxEventLoopDelayMs: 200,
  minFreeMemory: 0.1,
  proxyTimeoutMs: 30_000,
  proxyTokenMs: 60_000,
};

/** Completes the limits. Rejects with `bad_options` if they don't keep two nodes from working on one session. */
export function fleetLimits(given: Partial<FleetLimits> = {}): FleetLimits {
  const limits = { ...FLEET_LIMITS, ...given };
  const { leaseMs, renewMs, renewTimeoutMs, freezeMs } = limits;
  if (!(freezeMs < leaseMs)) {
    throw new DaemonError(
      "bad_options",
      `limits.fleet.freezeMs (${freezeMs}) must be less than leaseMs (${leaseMs}): app-servers are stopped before the lease ends.`,
    );
  }
  if (!(renewMs + renewTimeoutMs < freezeMs)) {
    throw new DaemonError(
      "bad_options",
      `limits.fleet.renewMs (${renewMs}) and renewTimeoutMs (${renewTimeoutMs}) must be less than freezeMs (${freezeMs}) together: one failed renewal would stop all turns.`,
    );
  }
  return limits;
}
