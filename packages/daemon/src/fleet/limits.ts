import { DaemonError } from "../errors.ts";

/** Limits of a node of a fleet. Times are milliseconds. */
export interface FleetLimits {
  /** Duration of a node's lease on its sessions, from its newest renewal. Default: 30,000. */
  readonly leaseMs: number;
  /** Interval between renewals of the lease. Default: 5,000. */
  readonly renewMs: number;
  /** Timeout of one renewal. Default: 3,000. */
  readonly renewTimeoutMs: number;
  /**
   * Time after the newest successful renewal was sent at which the app-servers are stopped with SIGSTOP, because they must not act
   * after the lease has ended. Default: 20,000.
   */
  readonly freezeMs: number;
  /** App-servers that have been stopped for this long are killed. Default: 600,000. */
  readonly frozenKillMs: number;
  /** Interval between searches for sessions of lost nodes and for stranded sessions. Default: 1,000. */
  readonly takeoverMs: number;
  /** How long a session is reserved for the node that owned it last. Default: 2,000. */
  readonly affinityMs: number;
  /** A node whose event loop is delayed by more than this claims no sessions. Default: 200. */
  readonly maxEventLoopDelayMs: number;
  /** A node with a smaller fraction of its memory available claims no sessions. Default: 0.1. */
  readonly minFreeMemory: number;
  /** Timeout for the response of another node to a forwarded request. Default: 30,000. */
  readonly proxyTimeoutMs: number;
  /** Validity of the token of a forwarded request. Default: 60,000. */
  readonly proxyTokenMs: number;
  /**
   * Minimum time for which a daemon that shuts down keeps listening, from the start of its drain, if other nodes are up. In the
   * meantime, load balancers see at `/ready` that it drains. Default: 5,000.
   */
  readonly drainListenMs: number;
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
  drainListenMs: 5_000,
};

/** Applies the defaults. Throws `bad_options` if the limits don't prevent two nodes from working on one session. */
export function fleetLimits(given: Partial<FleetLimits> = {}): FleetLimits {
  const limits = { ...FLEET_LIMITS, ...given };
  const { leaseMs, renewMs, renewTimeoutMs, freezeMs } = limits;
  if (!(freezeMs < leaseMs)) {
    throw new DaemonError(
      "bad_options",
      `limits.fleet.freezeMs (${freezeMs}) must be less than leaseMs (${leaseMs}), because app-servers must be stopped before the lease ends.`,
    );
  }
  if (!(renewMs + renewTimeoutMs < freezeMs)) {
    throw new DaemonError(
      "bad_options",
      `limits.fleet.renewMs (${renewMs}) and renewTimeoutMs (${renewTimeoutMs}) must add up to less than freezeMs (${freezeMs}). Otherwise one failed renewal would stop all turns.`,
    );
  }
  return limits;
}
