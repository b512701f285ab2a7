// Simulates several nodes on one clock, with the real lease machine and watchdog, and simulated processes and networks. The caller
// passes the store: the pure ownership machine, or the real one on the clock of the simulation. The same commands drive a fleet of
// real daemons, too.
import fc from "fast-check";
import {
  acquireLease,
  type LeaseEvent,
  type LeaseState,
  mayClaim,
  mayTakeOver,
  needsCheck,
  stepLease,
} from "../src/fleet/lease-machine.ts";
import { fleetLimits } from "../src/fleet/limits.ts";
import type { Owner } from "../src/fleet/ownership-machine.ts";
import {
  orphanGraceMs,
  startWatchdog,
  stepWatchdog,
  type WatchdogEvent,
  type WatchdogState,
} from "../src/fleet/watchdog.ts";
import type { OwnershipStore } from "./ownership-stores.ts";

const LIMITS = fleetLimits();
/** A step of the simulation. */
const TICK_MS = 1_000;
/** Within this time after the last fault, every session has an owner again. */
const RECOVERY_MS = 3 * LIMITS.leaseMs;

export const NODE_NAMES = ["a", "b", "c"] as const;

/** What the commands drive. Times are those of a fleet with the default limits. */
export interface DrivenFleet {
  advance(ms: number): Promise<void>;
  addSession(): Promise<void>;
  /** Disconnects a node from the store. */
  cutOff(name: string): void;
  connect(name: string): void;
  setStoreDown(isDown: boolean): Promise<void>;
  /** Delays requests of a node to the store, and the responses. */
  delay(name: string, delays: Delays): void;
  pause(name: string): void;
  resume(name: string): void;
  kill(name: string): Promise<void>;
  /** Boots a daemon again that has died. Resolves to false if it can't, because the store is down. */
  restart(name: string): Promise<boolean>;
}

export interface Delays {
  readonly request: number;
  readonly response: number;
}

const NO_DELAYS: Delays = { request: 0, response: 0 };

/** The app-server of a node. It acts for its sessions unless it is stopped. */
interface AppServer {
  readonly sessions: Map<string, Owner>;
  isStopped: boolean;
}

class SimulatedNode {
  readonly name: string;
  nodeId: string;
  lease: LeaseState;
  watchdog: WatchdogState;
  server: AppServer = { sessions: new Map(), isStopped: false };
  /** The sessions that the daemon believes to own. */
  readonly owned = new Map<string, Owner>();
  isPaused = false;
  isDead = false;
  isCutOff = false;
  /** Latency of requests to the store, and of its responses. */
  delays = NO_DELAYS;
  /** When the keeper ends the app-server of a dead daemon. */
  graceEndsAt = Number.POSITIVE_INFINITY;
  /** Requests that have not reached the store yet. */
  pending: { readonly at: number; readonly run: () => Promise<void> }[] = [];
  /** Responses that have not reached the daemon yet. */
  responses: { readonly at: number; readonly run: () => Promise<void> }[] = [];

  constructor(name: string, nodeId: string, at: number) {
    this.name = name;
    this.nodeId = nodeId;
    this.lease = acquireLease(at, LIMITS);
    this.watchdog = startWatchdog(at);
  }
}

export class FleetSimulation implements DrivenFleet {
  readonly nodes = new Map<string, SimulatedNode>();
  readonly #store: OwnershipStore;
  /** The newest claimed epoch of each session. */
  readonly #epochs = new Map<string, number>();
  readonly #sessions: string[] = [];
  #isStoreDown = false;
  #at = 0;

  private constructor(store: OwnershipStore) {
    this.#store = store;
  }

  static async start(store: OwnershipStore): Promise<FleetSimulation> {
    const simulation = new FleetSimulation(store);
    for (const name of NODE_NAMES) await simulation.restart(name);
    return simulation;
  }

  node(name: string): SimulatedNode {
    const node = this.nodes.get(name);
    if (!node) throw new Error(`There is no node ${name}.`);
    return node;
  }

  async addSession(): Promise<void> {
    this.#sessions.push(await this.#store.addSession());
  }

  cutOff(name: string): void {
    this.node(name).isCutOff = true;
  }

  connect(name: string): void {
    this.node(name).isCutOff = false;
  }

  async setStoreDown(isDown: boolean): Promise<void> {
    this.#isStoreDown = isDown;
  }

  delay(name: string, delays: Delays): void {
    this.node(name).delays = delays;
  }

  pause(name: string): void {
    this.node(name).isPaused = true;
  }

  resume(name: string): void {
    this.node(name).isPaused = false;
  }

  async kill(name: string): Promise<void> {
    const node = this.node(name);
    node.isDead = true;
    node.pending = [];
    node.responses = [];
    node.graceEndsAt = this.#at + orphanGraceMs(LIMITS);
    this.#watch(node, { type: "orphaned", at: this.#at });
  }

  /** The new boot attaches to the app-server if that is still running. */
  async restart(name: string): Promise<boolean> {
    // The daemon waits for the store before it does anything else.
    if (this.#isStoreDown) return false;
    const former = this.nodes.get(name);
    const node = new SimulatedNode(name, await this.#store.register(name), this.#at);
    if (former && !former.server.isStopped) node.server = former.server;
    else former?.server.sessions.clear();
    this.nodes.set(name, node);
    await this.#claim(node);
    // Otherwise its app-server would act for a session of another node.
    for (const [sessionId] of node.server.sessions) {
      if (!node.owned.has(sessionId))
        throw new Error(`${name} attached to an app-server with ${sessionId}, which it does not own.`);
    }
    return true;
  }

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      this.#at += TICK_MS;
      await this.#store.advance(TICK_MS);
      for (const node of this.nodes.values()) {
        await this.#runPending(node);
        this.#watch(node, { type: "tick", at: this.#at });
        if (node.isDead && this.#at >= node.graceEndsAt && !node.server.isStopped)
          node.server.sessions.clear();
        if (node.isDead || node.isPaused) continue;
        await this.#runResponses(node);
        await this.#dispatch(node, { type: "tick", at: this.#at });
        await this.#claim(node);
      }
      await this.check();
    }
  }

  /** Ends all faults. */
  async heal(): Promise<void> {
    this.#isStoreDown = false;
    for (const node of Array.from(this.nodes.values())) {
      node.isPaused = false;
      node.isCutOff = false;
      node.delays = NO_DELAYS;
      if (node.isDead) await this.restart(node.name);
    }
  }

  /** Checks that no two app-servers act for one session, and that only the newest owner can write to it. */
  async check(): Promise<void> {
    const acting = new Map<string, string>();
    for (const { name, server } of this.nodes.values()) {
      if (server.isStopped) continue;
      for (const sessionId of server.sessions.keys()) {
        const other = acting.get(sessionId);
        if (other !== undefined)
          throw new Error(`At ${this.#at} ms, ${other} and ${name} act for session ${sessionId}.`);
        acting.set(sessionId, name);
      }
    }
    for (const node of this.nodes.values()) {
      for (const session of node.owned.values()) {
        const isNewest = this.#epochs.get(session.sessionId) === session.epoch;
        const isWritten = await this.#store.write(session);
        if (isWritten !== isNewest) {
          throw new Error(
            `At ${this.#at} ms, ${node.name} ${isWritten ? "wrote to" : "was kept from"} ${session.sessionId}.`,
          );
        }
      }
    }
  }

  /** Waits until an app-server acts for every session. Throws after some leases. */
  async untilAllOwned(): Promise<void> {
    for (let waited = 0; this.#missing().length > 0; waited += TICK_MS) {
      if (waited >= RECOVERY_MS) throw new Error(`No node acts for ${this.#missing().join(", ")}.`);
      await this.advance(TICK_MS);
    }
    await this.#store.snapshot();
  }

  #missing(): readonly string[] {
    const servers = [...this.nodes.values()].map(({ server }) => server);
    const acting = new Set(
      servers.flatMap(({ isStopped, sessions }) => (isStopped ? [] : [...sessions.keys()])),
    );
    return this.#sessions.filter((id) => !acting.has(id));
  }

  async #runPending(node: SimulatedNode): Promise<void> {
    const due = node.pending.filter(({ at }) => at <= this.#at);
    node.pending = node.pending.filter(({ at }) => at > this.#at);
    for (const { run } of due) await run();
  }

  async #runResponses(node: SimulatedNode): Promise<void> {
    const due = node.responses.filter(({ at }) => at <= this.#at);
    node.responses = node.responses.filter(({ at }) => at > this.#at);
    for (const { run } of due) await run();
  }

  /** Sends a renewal over the network. After its time limit it counts as failed, even if it still reaches the store. */
  async #renew(node: SimulatedNode): Promise<void> {
    const sentAt = this.#at;
    const { request, response } = node.delays;
    let isOver = false;
    const respond = (at: number, run: () => Promise<void>): void => {
      node.responses.push({
        at,
        run: async () => {
          if (isOver) return;
          isOver = true;
          await run();
        },
      });
    };
    respond(sentAt + LIMITS.renewTimeoutMs, () => this.#dispatch(node, { type: "failed", at: this.#at }));
    if (node.isCutOff || this.#isStoreDown) return;
    const carryOut = async (): Promise<void> => {
      const isRenewed = await this.#store.renew(node.nodeId);
      respond(this.#at + response, () => this.#renewed(node, sentAt, isRenewed));
      if (response === 0 && !node.isPaused) await this.#runResponses(node);
    };
    if (request === 0) await carryOut();
    else node.pending.push({ at: sentAt + request, run: carryOut });
  }

  async #register(node: SimulatedNode): Promise<void> {
    if (node.isCutOff || this.#isStoreDown) {
      await this.#dispatch(node, { type: "failed", at: this.#at });
      return;
    }
    node.nodeId = await this.#store.register(node.name);
    node.watchdog = startWatchdog(this.#at);
    await this.#dispatch(node, { type: "renewed", sentAt: this.#at, at: this.#at });
  }

  async #renewed(node: SimulatedNode, sentAt: number, isRenewed: boolean): Promise<void> {
    if (!isRenewed) {
      await this.#dispatch(node, { type: "fenced", at: this.#at });
      return;
    }
    if (needsCheck(node.lease, this.#at, LIMITS)) {
      // The check of the owned sessions is a second request.
      if (node.isCutOff || this.#isStoreDown) {
        await this.#dispatch(node, { type: "failed", at: this.#at });
        return;
      }
      const owned = new Set(await this.#store.ownedBy(node.nodeId));
      if ([...node.owned.keys()].some((id) => !owned.has(id))) this.#keepOnly(node, owned);
    }
    await this.#dispatch(node, { type: "renewed", sentAt, at: this.#at });
    this.#watch(node, { type: "renewed", sentAt, at: this.#at });
  }

  /** Kills the app-server, because it has threads of lost sessions. The other sessions are loaded again. */
  #keepOnly(node: SimulatedNode, sessionIds: ReadonlySet<string>): void {
    for (const id of node.owned.keys()) if (!sessionIds.has(id)) node.owned.delete(id);
    node.server.sessions.clear();
    for (const [id, session] of node.owned) node.server.sessions.set(id, session);
  }

  async #dispatch(node: SimulatedNode, event: LeaseEvent): Promise<void> {
    const { state, actions } = stepLease(node.lease, event, LIMITS);
    node.lease = state;
    for (const action of actions) {
      switch (action) {
        case "renew":
          await this.#renew(node);
          break;
        case "register":
          await this.#register(node);
          break;
        case "freeze":
          node.server.isStopped = true;
          break;
        case "thaw":
          node.server.isStopped = false;
          break;
        case "kill":
          this.#killServer(node);
          break;
        case "abandon":
          node.owned.clear();
          break;
      }
    }
    // After a kill, the sessions that are still owned are loaded in a new app-server as soon as it may act.
    if (node.lease.phase === "held" && !node.server.isStopped) {
      for (const [id, session] of node.owned) node.server.sessions.set(id, session);
    }
  }

  #watch(node: SimulatedNode, event: WatchdogEvent): void {
    const { state, actions } = stepWatchdog(node.watchdog, event, LIMITS);
    node.watchdog = state;
    for (const action of actions) {
      if (action === "freeze") node.server.isStopped = true;
      else if (action === "thaw") node.server.isStopped = false;
      else this.#killServer(node);
    }
  }

  #killServer(node: SimulatedNode): void {
    node.server.sessions.clear();
    node.server.isStopped = node.lease.phase !== "held";
  }

  async #claim(node: SimulatedNode): Promise<void> {
    if (node.isCutOff || this.#isStoreDown || !mayClaim(node.lease, this.#at, LIMITS)) return;
    const { nodeId, name } = node;
    const claimed = await this.#store.claim({
      nodeId,
      name,
      mayTakeOver: mayTakeOver(node.lease, this.#at, LIMITS),
    });
    for (const session of claimed) {
      this.#epochs.set(session.sessionId, session.epoch);
      node.owned.set(session.sessionId, session);
      node.server.sessions.set(session.sessionId, session);
    }
  }
}

/** The state by which fast-check chooses applicable commands. */
export interface FleetModel {
  readonly dead: Set<string>;
  readonly paused: Set<string>;
}

type FleetCommand = fc.AsyncCommand<FleetModel, DrivenFleet>;

function command(
  label: string,
  run: (fleet: DrivenFleet, model: FleetModel) => void | Promise<void>,
  check: (model: FleetModel) => boolean = () => true,
): FleetCommand {
  return { check, run: async (model, fleet) => run(fleet, model), toString: () => label };
}

/** Generates faults and pauses. Many of them, because a fault takes time to have consequences. */
export function fleetCommands(maxCommands: number): fc.Arbitrary<Iterable<FleetCommand>> {
  const names = fc.constantFrom(...NODE_NAMES);
  const isRunning =
    (name: string) =>
    ({ dead, paused }: FleetModel): boolean =>
      !dead.has(name) && !paused.has(name);
  const arbitraries = [
    fc
      .integer({ min: 1, max: 45 })
      .map((seconds) => command(`wait ${seconds} s`, (fleet) => fleet.advance(seconds * 1_000))),
    fc.constant(command("work", (fleet) => fleet.addSession())),
    names.map((name) => command(`cut ${name} off`, (fleet) => fleet.cutOff(name))),
    names.map((name) => command(`connect ${name}`, (fleet) => fleet.connect(name))),
    fc
      .boolean()
      .map((isDown) => command(`store ${isDown ? "down" : "up"}`, (fleet) => fleet.setStoreDown(isDown))),
    fc
      .tuple(names, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }))
      .map(([name, request, response]) =>
        command(`delay ${name} by ${request} and ${response} s`, (fleet) => {
          fleet.delay(name, { request: request * 1_000, response: response * 1_000 });
        }),
      ),
    names.map((name) =>
      command(
        `pause ${name}`,
        (fleet, model) => {
          model.paused.add(name);
          fleet.pause(name);
        },
        isRunning(name),
      ),
    ),
    names.map((name) =>
      command(
        `resume ${name}`,
        (fleet, model) => {
          model.paused.delete(name);
          fleet.resume(name);
        },
        ({ paused }) => paused.has(name),
      ),
    ),
    names.map((name) =>
      command(
        `kill ${name}`,
        async (fleet, model) => {
          model.dead.add(name);
          model.paused.delete(name);
          await fleet.kill(name);
        },
        ({ dead }) => !dead.has(name),
      ),
    ),
    names.map((name) =>
      command(
        `restart ${name}`,
        async (fleet, model) => {
          if (await fleet.restart(name)) model.dead.delete(name);
        },
        ({ dead }) => dead.has(name),
      ),
    ),
  ];
  return fc.commands(arbitraries, { maxCommands, size: "max" });
}

export const NO_FAULTS = (): FleetModel => ({ dead: new Set(), paused: new Set() });

/** Runs the commands on a fleet with this store, ends all faults, and checks that the fleet recovers. */
export async function walkFleet(commands: Iterable<FleetCommand>, store: OwnershipStore): Promise<void> {
  const simulation = await FleetSimulation.start(store);
  await simulation.addSession();
  await fc.asyncModelRun(() => ({ model: NO_FAULTS(), real: simulation }), commands);
  await simulation.heal();
  await simulation.untilAllOwned();
}
