import type { DedicatedConnection } from "@codexkit/store";
import { DaemonError } from "../errors.ts";
import type { Database } from "../database.ts";
import type { NewNode } from "../database/node-store.ts";
import type { DaemonTables } from "../database/tables.ts";
import { machineClock } from "./clock.ts";
import {
  acquireLease,
  type LeaseAction,
  type LeaseEvent,
  type LeaseState,
  mayClaim,
  mayTakeOver,
  needsCheck,
  stepLease,
} from "./lease-machine.ts";
import type { FleetLimits } from "./limits.ts";

/** Interval of the ticks, as a fraction of the renewal interval. */
const TICK = 0.05;

export interface NodeLeaseDeps {
  readonly database: Database;
  readonly limits: FleetLimits;
  readonly node: NewNode;
  /** Returns what each renewal reports to the other nodes. */
  readonly report: () => { readonly state: "up" | "draining"; readonly turns: number };
  /** Stops the app-servers. `thaw` continues them, and `kill` ends them. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  readonly kill: () => void;
  /** Called after the lease was renewed by a request that was sent at this time. */
  readonly onRenewed: (sentAt: number) => void;
  /** Called after a new lease was registered, with a new node ID. */
  readonly onRegistered: (nodeId: string, sentAt: number) => Promise<void>;
  /** Gives up all other sessions. When this returns, their app-servers can no longer act. */
  readonly keepOnly: (sessionIds: ReadonlySet<string>) => void;
  readonly onDrainRequested: () => void;
  readonly onWarning: (error: unknown, message: string) => void;
}

/** The lease of this node. Renews it over a dedicated connection, and carries out the actions of the lease machine. */
export class NodeLease implements AsyncDisposable {
  readonly renewals = { ok: 0, failed: 0 };
  readonly #deps: NodeLeaseDeps;
  readonly #connection: DedicatedConnection<DaemonTables>;
  #nodeId: string;
  #state: LeaseState;
  #timer: NodeJS.Timeout | undefined;
  /** The pending request. */
  #request: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(
    deps: NodeLeaseDeps,
    connection: DedicatedConnection<DaemonTables>,
    { nodeId, sentAt }: { nodeId: string; sentAt: number },
  ) {
    this.#deps = deps;
    this.#connection = connection;
    this.#nodeId = nodeId;
    this.#state = acquireLease(sentAt, deps.limits);
  }

  /** Registers the node. The caller must hold the lock on its name. */
  static async acquire(deps: NodeLeaseDeps): Promise<NodeLease> {
    const { database, limits } = deps;
    const connection = database.store.dedicated({ timeoutMs: limits.renewTimeoutMs });
    const sentAt = machineClock();
    const nodeId = await database.nodes.register(deps.node);
    const lease = new NodeLease(deps, connection, { nodeId, sentAt });
    await deps.onRegistered(nodeId, sentAt);
    lease.#timer = setInterval(
      () => lease.#dispatch({ type: "tick", at: machineClock() }),
      limits.renewMs * TICK,
    );
    lease.#timer.unref();
    return lease;
  }

  get nodeId(): string {
    return this.#nodeId;
  }

  get ageMs(): number {
    return machineClock() - this.#state.renewedAt;
  }

  get mayClaim(): boolean {
    return mayClaim(this.#state, machineClock(), this.#deps.limits);
  }

  get mayTakeOver(): boolean {
    return mayTakeOver(this.#state, machineClock(), this.#deps.limits);
  }

  /** Reports a change to the other nodes immediately. Never rejects. */
  async report(): Promise<void> {
    await this.#request;
    if (!this.#isClosed && this.#state.phase !== "lost") await this.#renew();
  }

  /** Ends the lease, so that sessions that the node still owns can be claimed immediately. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    const { database, onWarning } = this.#deps;
    await this.#request;
    await this.#connection
      .run((db) => database.nodes.retire(this.#nodeId, db))
      .catch((error: unknown) => onWarning(error, "The lease could not be ended, and will expire"));
    await this.#connection[Symbol.asyncDispose]();
  }

  #dispatch(event: LeaseEvent): void {
    if (this.#isClosed) return;
    const { state, actions } = stepLease(this.#state, event, this.#deps.limits);
    this.#state = state;
    for (const action of actions) this.#act(action);
  }

  #act(action: LeaseAction): void {
    const { freeze, thaw, kill, keepOnly } = this.#deps;
    switch (action) {
      case "renew":
        this.#request = this.#renew();
        break;
      case "register":
        this.#request = this.#register();
        break;
      case "freeze":
        freeze();
        break;
      case "thaw":
        thaw();
        break;
      case "kill":
        kill();
        break;
      case "abandon":
        keepOnly(new Set());
        break;
    }
  }

  async #renew(): Promise<void> {
    const { database, limits, report, keepOnly, onRenewed, onDrainRequested, onWarning } = this.#deps;
    const sentAt = machineClock();
    try {
      const renewed = await this.#connection.run((db) => database.nodes.renew(this.#nodeId, report(), db));
      if (!renewed) {
        onWarning(undefined, "The lease of this node was ended by the store. Its sessions are given up");
        this.#dispatch({ type: "fenced", at: machineClock() });
        return;
      }
      if (needsCheck(this.#state, machineClock(), limits)) {
        keepOnly(new Set(await this.#connection.run((db) => database.sessions.idsOwnedBy(this.#nodeId, db))));
      }
      this.#succeeded(sentAt);
      onRenewed(sentAt);
      if (renewed.isDrainRequested) onDrainRequested();
    } catch (error) {
      this.#failed(error, onWarning);
    }
  }

  /** Registers again after the lease was ended. The sessions have other owners by now, so the node starts without any. */
  async #register(): Promise<void> {
    const { database, node, onRegistered, onWarning } = this.#deps;
    const sentAt = machineClock();
    try {
      const holder = (await database.nodes.list()).find(
        ({ id, name, isAlive }) => name === node.name && isAlive && id !== this.#nodeId,
      );
      if (holder) {
        throw new DaemonError(
          "bad_options",
          `Another daemon is using the name "${node.name}" now: node ${holder.id}. Stop one of the two, or give it another name.`,
        );
      }
      this.#nodeId = await database.nodes.register(node);
      await onRegistered(this.#nodeId, sentAt);
      this.#succeeded(sentAt);
    } catch (error) {
      this.#failed(error, onWarning);
    }
  }

  #succeeded(sentAt: number): void {
    this.renewals.ok += 1;
    this.#dispatch({ type: "renewed", sentAt, at: machineClock() });
  }

  #failed(error: unknown, onWarning: NodeLeaseDeps["onWarning"]): void {
    this.renewals.failed += 1;
    if (!this.#isClosed) onWarning(error, "The lease of this node could not be renewed");
    this.#dispatch({ type: "failed", at: machineClock() });
  }
}
