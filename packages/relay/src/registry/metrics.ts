import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { NodeLinks } from "./nodes/node-links.ts";
import type { Direction } from "./rendezvous/rendezvous-counters.ts";
import type { Rendezvous } from "./rendezvous/rendezvous.ts";

const DIRECTIONS: readonly Direction[] = ["to_executor", "to_harness"];

/** Prometheus metrics of one node. Environments and tokens are not labels, because their number is unlimited. */
export class Metrics {
  readonly registry = new Registry();
  readonly counters: Rendezvous["counters"];

  constructor(rendezvous: Rendezvous, links: NodeLinks) {
    const registers = [this.registry];
    const { counters } = rendezvous;
    this.counters = counters;
    collectDefaultMetrics({ register: this.registry });
    const sockets: Gauge<"end"> = new Gauge({
      name: "codexkit_relay_sockets",
      help: "Open sockets by their end: executor, harness, or node (a harness whose executor is connected to another node).",
      labelNames: ["end"],
      registers,
      collect: () => {
        const executors = [...rendezvous.executors];
        sockets.set({ end: "executor" }, executors.length);
        sockets.set({ end: "harness" }, sum(executors.map(({ harnesses }) => harnesses.size)));
        sockets.set({ end: "node" }, links.size);
      },
    });
    const streams: Gauge = new Gauge({
      name: "codexkit_relay_streams",
      help: "Streams of the executors on this node.",
      registers,
      collect: () => streams.set(sum([...rendezvous.executors].map(({ streamCount }) => streamCount))),
    });
    const addCounter = (
      name: string,
      help: string,
      read: () => Readonly<Record<Direction, number>>,
    ): void => {
      const counter: Counter<"direction"> = new Counter({
        name,
        help,
        labelNames: ["direction"],
        registers,
        collect: () => {
          counter.reset();
          for (const direction of DIRECTIONS) counter.inc({ direction }, read()[direction]);
        },
      });
    };
    addCounter("codexkit_relay_frames_total", "Frames that were passed on.", () => counters.frames);
    addCounter("codexkit_relay_bytes_total", "Bytes of frames that were passed on.", () => counters.bytes);
    const refusals: Counter<"reason"> = new Counter({
      name: "codexkit_relay_refusals_total",
      help: "Refused requests, upgrades, frames and streams, and sockets that were closed for what their peer did.",
      labelNames: ["reason"],
      registers,
      collect: () => {
        refusals.reset();
        for (const [reason, count] of counters.refusals) refusals.inc({ reason }, count);
      },
    });
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
