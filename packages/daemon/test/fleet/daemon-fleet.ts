import type { PostgresServer } from "@codexkit/store/testing";
import { setTimeout as delay } from "node:timers/promises";
import { fleetLimits } from "../../src/fleet/limits.ts";
import type { Delays, DrivenFleet } from "../fleet-model.ts";
import { FLEET_TIMES } from "./fleet.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";

/** The commands of the model have the default times. The daemons of the tests have shorter ones. */
const TIME = FLEET_TIMES.fleet.leaseMs / fleetLimits().leaseMs;

let works = 0;

/** Lets the commands of the model act on real daemons. */
export class DaemonFleet implements DrivenFleet {
  readonly #client: FleetClient;
  readonly #postgres: PostgresServer;
  /** Work that may have to wait until the faults end. */
  readonly #started: Promise<unknown>[] = [];
  readonly #cutOff = new Set<FleetNode>();
  #isStoreDown = false;

  constructor(client: FleetClient, postgres: PostgresServer) {
    this.#client = client;
    this.#postgres = postgres;
  }

  async advance(ms: number): Promise<void> {
    await delay(ms * TIME);
  }

  async addSession(): Promise<void> {
    works += 1;
    const text = `slow driven${works}`;
    this.#started.push(this.#client.create().then(({ id }) => this.#client.send(id, text)));
  }

  cutOff(name: string): void {
    const node = this.#node(name);
    this.#cutOff.add(node);
    setMode(node, "blackhole");
  }

  connect(name: string): void {
    const node = this.#node(name);
    this.#cutOff.delete(node);
    setMode(node, "pass");
  }

  async setStoreDown(isDown: boolean): Promise<void> {
    if (isDown === this.#isStoreDown) return;
    this.#isStoreDown = isDown;
    if (isDown) await this.#postgres.kill();
    else await this.#postgres.restart();
  }

  delay(name: string, { request, response }: Delays): void {
    const node = this.#node(name);
    if (!this.#cutOff.has(node)) setMode(node, request + response > 0 ? "delay" : "pass");
  }

  pause(name: string): void {
    this.#node(name).pause();
  }

  resume(name: string): void {
    this.#node(name).resume();
  }

  async kill(name: string): Promise<void> {
    await this.#node(name).killDaemon();
  }

  async restart(name: string): Promise<boolean> {
    if (this.#isStoreDown) return false;
    this.connect(name);
    await this.#node(name).start();
    return true;
  }

  /** Ends all faults. Resolves when all sessions have their work. */
  async heal(): Promise<void> {
    await this.setStoreDown(false);
    await this.#client.fleet.heal();
    await Promise.all(this.#started);
  }

  #node(name: string): FleetNode {
    const node = this.#client.fleet.nodes.find((other) => other.name === name);
    if (!node) throw new Error(`There is no node ${name}.`);
    return node;
  }
}

function setMode({ storeProxy }: FleetNode, mode: "pass" | "blackhole" | "delay"): void {
  if (storeProxy) storeProxy.mode = mode;
}
