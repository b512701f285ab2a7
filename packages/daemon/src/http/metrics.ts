import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Runner } from "../sessions/runner.ts";

/** Prometheus metrics of one daemon, in a registry of its own. */
export class Metrics {
  readonly registry = new Registry();
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly openStreams: Gauge<"kind">;
  readonly sentBatches: Counter<"kind">;

  /** @param countParked Number of approvals that wait without a process, in the whole store. */
  constructor(runner: Pick<Runner, "status">, countParked: () => Promise<number>) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 50 });
    this.requests = new Counter({
      name: "codexkit_http_requests_total",
      help: "Answered HTTP requests.",
      labelNames: ["method", "route", "status"],
      registers,
    });
    this.requestSeconds = new Histogram({
      name: "codexkit_http_request_seconds",
      help: "Time until the response began.",
      labelNames: ["method", "route"],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    });
    this.openStreams = new Gauge({
      name: "codexkit_event_streams",
      help: "Open event streams.",
      labelNames: ["kind"],
      registers,
    });
    this.sentBatches = new Counter({
      name: "codexkit_event_batches_total",
      help: "Batches of events sent to streams.",
      labelNames: ["kind"],
      registers,
    });
    this.#addRunnerMetrics(runner, registers);
    const parked: Gauge = new Gauge({
      name: "codexkit_parked_approvals",
      help: "Approvals of all sessions that wait without a process.",
      registers,
      collect: async () => {
        // The other metrics are needed most when the store can't be reached.
        parked.set(await countParked().catch(() => Number.NaN));
      },
    });
  }

  #addRunnerMetrics(runner: Pick<Runner, "status">, registers: Registry[]): void {
    const gauge = (name: string, help: string, read: () => number): void => {
      const added: Gauge = new Gauge({ name, help, registers, collect: () => added.set(read()) });
    };
    gauge("codexkit_sessions", "Sessions that this node owns.", () => runner.status.sessions);
    gauge("codexkit_running_turns", "Running turns.", () => runner.status.runningTurns);
    gauge("codexkit_open_approvals", "Approvals that wait for an answer.", () => runner.status.openApprovals);
    gauge("codexkit_app_servers", "App-servers of this node.", () => runner.status.appServers.length);
    gauge(
      "codexkit_app_server_restarts",
      "App-servers that were started again.",
      () => runner.status.appServerRestarts,
    );
    const turns: Gauge<"status"> = new Gauge({
      name: "codexkit_turns",
      help: "Turns that ended since the start.",
      labelNames: ["status"],
      registers,
      collect: () => {
        for (const [status, count] of Object.entries(runner.status.turns)) turns.set({ status }, count);
      },
    });
  }
}
