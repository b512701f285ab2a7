import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FleetCounts } from "../fleet-store/node-directory.ts";
import type { Runner } from "../sessions/runner.ts";

const NODE_STATES = ["stopped", "starting", "running", "draining", "closed", "frozen"] as const;

/** Counts that are queried from the store. They cover all nodes. */
export interface StoreCounts {
  /** Number of approvals that wait without a process. */
  readonly countParked: () => Promise<number>;
  readonly countFleet: () => Promise<FleetCounts>;
}

/** Prometheus metrics of one daemon, in a separate registry. */
export class Metrics {
  readonly registry = new Registry();
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly openStreams: Gauge<"kind">;
  readonly sentBatches: Counter<"kind">;
  readonly proxiedRequests: Counter<"outcome">;

  constructor(runner: Pick<Runner, "status">, { countParked, countFleet }: StoreCounts) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 50 });
    this.requests = new Counter({
      name: "codexkit_http_requests_total",
      help: "Number of HTTP requests with a response.",
      labelNames: ["method", "route", "status"],
      registers,
    });
    this.requestSeconds = new Histogram({
      name: "codexkit_http_request_seconds",
      help: "Time until the response started.",
      labelNames: ["method", "route"],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    });
    this.openStreams = new Gauge({
      name: "codexkit_event_streams",
      help: "Number of open event streams.",
      labelNames: ["kind"],
      registers,
    });
    this.sentBatches = new Counter({
      name: "codexkit_event_batches_total",
      help: "Number of event batches sent to streams.",
      labelNames: ["kind"],
      registers,
    });
    this.proxiedRequests = new Counter({
      name: "codexkit_proxied_requests_total",
      help: "Number of requests forwarded to the node of their session.",
      labelNames: ["outcome"],
      registers,
    });
    this.#addRunnerMetrics(runner, registers);
    this.#addFleetMetrics(runner, countFleet, registers);
    const parked: Gauge = new Gauge({
      name: "codexkit_parked_approvals",
      help: "Number of approvals of all sessions that wait without a process.",
      registers,
      collect: async () => {
        // The other metrics are most important when the store can't be reached.
        parked.set(await countParked().catch(() => Number.NaN));
      },
    });
  }

  #addFleetMetrics(
    runner: Pick<Runner, "status">,
    countFleet: () => Promise<FleetCounts>,
    registers: Registry[],
  ): void {
    // One query per scrape serves all metrics.
    let counting: Promise<FleetCounts | undefined> | undefined;
    const countOnce = async (): Promise<FleetCounts | undefined> => {
      counting ??= countFleet()
        .catch(() => undefined)
        .finally(() => {
          counting = undefined;
        });
      return counting;
    };
    const gauge = (name: string, help: string, read: (counts: FleetCounts) => number): void => {
      const added: Gauge = new Gauge({
        name,
        help,
        registers,
        collect: async () => {
          const counts = await countOnce();
          added.set(counts ? read(counts) : Number.NaN);
        },
      });
    };
    gauge(
      "codexkit_sessions_ready",
      "Number of sessions of all nodes that have work but no node.",
      ({ ready }) => ready,
    );
    gauge("codexkit_sessions_stranded", "Number of sessions whose node is lost.", ({ stranded }) => stranded);
    const nodes: Gauge<"state"> = new Gauge({
      name: "codexkit_nodes",
      help: "Number of nodes of the store, by state.",
      labelNames: ["state"],
      registers,
      collect: async () => {
        const counts = await countOnce();
        for (const each of ["up", "draining", "lost"] as const) {
          nodes.set({ state: each }, counts?.nodes[each] ?? Number.NaN);
        }
      },
    });
    const state: Gauge<"state"> = new Gauge({
      name: "codexkit_node_state",
      help: "1 for the current state of this node.",
      labelNames: ["state"],
      registers,
      collect: () => {
        const current = runner.status.fleet.isFrozen ? "frozen" : runner.status.state;
        for (const each of NODE_STATES) state.set({ state: each }, each === current ? 1 : 0);
      },
    });
    const counter = (
      name: string,
      help: string,
      label: string,
      read: () => Readonly<Record<string, number>>,
    ): void => {
      const added: Counter = new Counter({
        name,
        help,
        labelNames: [label],
        registers,
        collect: () => {
          added.reset();
          for (const [value, count] of Object.entries(read())) {
            added.inc({ [label]: value }, count);
          }
        },
      });
    };
    counter(
      "codexkit_claims_total",
      "Number of sessions that this node has claimed.",
      "reason",
      () => runner.status.fleet.claims,
    );
    counter(
      "codexkit_lease_renewals_total",
      "Number of lease renewals of this node.",
      "outcome",
      () => runner.status.fleet.renewals,
    );
    const fenced: Counter = new Counter({
      name: "codexkit_fenced_total",
      help: "Number of sessions that another node took over from this node.",
      registers,
      collect: () => {
        fenced.reset();
        fenced.inc(runner.status.fleet.fenced);
      },
    });
    const age: Gauge = new Gauge({
      name: "codexkit_lease_age_seconds",
      help: "Time since the last renewal of the lease.",
      registers,
      collect: () => age.set((runner.status.fleet.leaseAgeMs ?? Number.NaN) / 1000),
    });
    const frozen: Gauge = new Gauge({
      name: "codexkit_frozen",
      help: "1 while the app-servers are stopped because the lease could not be renewed.",
      registers,
      collect: () => frozen.set(runner.status.fleet.isFrozen ? 1 : 0),
    });
  }

  #addRunnerMetrics(runner: Pick<Runner, "status">, registers: Registry[]): void {
    const gauge = (name: string, help: string, read: () => number): void => {
      const added: Gauge = new Gauge({ name, help, registers, collect: () => added.set(read()) });
    };
    gauge("codexkit_sessions", "Number of sessions that this node owns.", () => runner.status.sessions);
    gauge("codexkit_running_turns", "Running turns.", () => runner.status.runningTurns);
    gauge(
      "codexkit_open_approvals",
      "Number of approvals that wait for an answer.",
      () => runner.status.openApprovals,
    );
    gauge(
      "codexkit_app_servers",
      "Number of app-servers of this node.",
      () => runner.status.appServers.length,
    );
    gauge(
      "codexkit_app_server_restarts",
      "Number of app-servers that were restarted.",
      () => runner.status.appServerRestarts,
    );
    const turns: Gauge<"status"> = new Gauge({
      name: "codexkit_turns",
      help: "Number of turns that ended since the start.",
      labelNames: ["status"],
      registers,
      collect: () => {
        for (const [status, count] of Object.entries(runner.status.turns)) turns.set({ status }, count);
      },
    });
  }
}
