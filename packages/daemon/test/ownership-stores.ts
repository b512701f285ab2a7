// The operations of the store by which nodes own sessions: on the pure model, on a real database, and on both side by side.
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { Database } from "../src/database.ts";
import { DaemonError } from "../src/errors.ts";
import { fleetLimits } from "../src/fleet/limits.ts";
import {
  addWork,
  type Claim,
  claimSessions,
  finishWork,
  mayWrite,
  NO_OWNERS,
  type NodeRecord,
  type Owner,
  type OwnershipState,
  registerNode,
  releaseSession,
  renewLease,
  retireNode,
  type SessionRecord,
} from "../src/fleet/ownership-machine.ts";
import { newSession, NODE, warning } from "./database-fixture.ts";

const { leaseMs, affinityMs } = fleetLimits();

export type ClaimRequest = Pick<Claim, "nodeId" | "name" | "mayTakeOver"> &
  Partial<Pick<Claim, "readyLimit">>;

/** What the store knows about ownership, with records in the order of their IDs. */
export interface OwnershipSnapshot {
  readonly nodes: readonly (readonly [string, NodeRecord])[];
  readonly sessions: readonly (readonly [string, SessionRecord])[];
}

/** A store with a clock of its own, which only `advance` moves. */
export interface OwnershipStore {
  advance(ms: number): Promise<void>;
  /** Adds a session with work. */
  addSession(): Promise<string>;
  addWork(sessionId: string): Promise<void>;
  register(name: string): Promise<string>;
  /** Resolves to false if the node was retired. */
  renew(nodeId: string, isDraining?: boolean): Promise<boolean>;
  retire(nodeId: string): Promise<void>;
  ownedBy(nodeId: string): Promise<readonly string[]>;
  /** Resolves to the claimed sessions in the order of their IDs. */
  claim(request: ClaimRequest): Promise<readonly Owner[]>;
  /** Resolves to false if the owner is fenced, like the following. */
  write(owner: Owner): Promise<boolean>;
  finish(owner: Owner): Promise<boolean>;
  release(owner: Owner): Promise<boolean>;
  snapshot(): Promise<OwnershipSnapshot>;
}

const NO_LIMIT = 100;

function byId<Value>(items: Iterable<Value>, id: (item: Value) => string): readonly Value[] {
  return [...items].toSorted((a, b) => (id(a) < id(b) ? -1 : 1));
}

/** The pure ownership machine with a clock. The IDs are given, or numbers. */
export class ModelStore implements OwnershipStore {
  #state: OwnershipState = NO_OWNERS;
  #now: number;

  constructor(now = 1) {
    this.#now = now;
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
  }

  async addSession(sessionId = `s${this.#state.sessions.size}`): Promise<string> {
    await this.addWork(sessionId);
    return sessionId;
  }

  async addWork(sessionId: string): Promise<void> {
    this.#state = addWork(this.#state, sessionId, this.#now);
  }

  async register(name: string, nodeId = `${name}${this.#state.nodes.size}`): Promise<string> {
    this.#state = registerNode(this.#state, { nodeId, name, leaseUntil: this.#now + leaseMs });
    return nodeId;
  }

  async renew(nodeId: string, isDraining = false): Promise<boolean> {
    return this.#change(renewLease(this.#state, nodeId, { leaseUntil: this.#now + leaseMs, isDraining }));
  }

  async retire(nodeId: string): Promise<void> {
    this.#state = retireNode(this.#state, nodeId);
  }

  async ownedBy(nodeId: string): Promise<readonly string[]> {
    return [...this.#state.sessions]
      .flatMap(([id, session]) => (session.nodeId === nodeId ? [id] : []))
      .toSorted();
  }

  async claim(request: ClaimRequest): Promise<readonly Owner[]> {
    const claim = { readyLimit: NO_LIMIT, affinityMs, at: this.#now, ...request };
    const { state, claimed } = claimSessions(this.#state, claim);
    this.#state = state;
    return byId(claimed, ({ sessionId }) => sessionId);
  }

  async write(owner: Owner): Promise<boolean> {
    return mayWrite(this.#state, owner);
  }

  async finish(owner: Owner): Promise<boolean> {
    return this.#change(finishWork(this.#state, owner));
  }

  async release(owner: Owner): Promise<boolean> {
    return this.#change(releaseSession(this.#state, owner));
  }

  async snapshot(): Promise<OwnershipSnapshot> {
    const { nodes, sessions } = this.#state;
    return { nodes: byId(nodes, ([id]) => id), sessions: byId(sessions, ([id]) => id) };
  }

  #change(state: OwnershipState | undefined): boolean {
    if (state) this.#state = state;
    return state !== undefined;
  }
}

/** The daemon's real store, on a clock that only the test moves. */
export class DatabaseStore implements OwnershipStore {
  readonly #database: Database;
  /** The unfinished command of each session with work. */
  readonly #commands = new Map<string, string>();

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Empties the database. */
  static async create({ store, location }: Database): Promise<DatabaseStore> {
    const { db } = store;
    await sql`create table if not exists test_clock (ms bigint)`.execute(db);
    await sql`delete from test_clock`.execute(db);
    await sql`insert into test_clock values (1000000)`.execute(db);
    for (const table of ["session", "node"] as const) await db.deleteFrom(table).execute();
    const now = sql<number>`(select ms from test_clock)`;
    return new DatabaseStore(new Database(location, { ...store, now }, { leaseMs }));
  }

  async now(): Promise<number> {
    return this.#database.sessions.now();
  }

  async advance(ms: number): Promise<void> {
    await sql`update test_clock set ms = ms + ${sql.lit(ms)}`.execute(this.#database.store.db);
  }

  async addSession(): Promise<string> {
    const { session, command } = await this.#database.sessions.insert(newSession());
    this.#commands.set(session.id, command?.id ?? "");
    return session.id;
  }

  async addWork(sessionId: string): Promise<void> {
    if (this.#commands.has(sessionId)) return;
    const key = crypto.randomUUID();
    const { command } = await this.#database.commands.submit({
      sessionId,
      key,
      kind: "compact",
      body: {},
      by: "x",
    });
    this.#commands.set(sessionId, command.id);
  }

  async register(name: string): Promise<string> {
    const nodeId = await this.#database.nodes.register({ ...NODE, name });
    await this.#database.nodes.retireFormer(name, nodeId);
    return nodeId;
  }

  async renew(nodeId: string, isDraining = false): Promise<boolean> {
    const state = isDraining ? "draining" : "up";
    return (await this.#database.nodes.renew(nodeId, { state })) !== undefined;
  }

  async retire(nodeId: string): Promise<void> {
    await this.#database.nodes.retire(nodeId);
  }

  async ownedBy(nodeId: string): Promise<readonly string[]> {
    return [...(await this.#database.sessions.idsOwnedBy(nodeId))].toSorted();
  }

  async claim(request: ClaimRequest): Promise<readonly Owner[]> {
    const { codexVersion } = NODE;
    const options = { readyLimit: NO_LIMIT, limit: NO_LIMIT, labels: [], codexVersion, affinityMs };
    const claimed = await this.#database.sessions.claim({ ...options, ...request });
    const owners = claimed.map(({ sessionId, nodeId, epoch }) => ({ sessionId, nodeId, epoch }));
    return byId(owners, ({ sessionId }) => sessionId);
  }

  async write(owner: Owner): Promise<boolean> {
    return isAllowed(this.#database.journal.append(owner, [warning("alive")]));
  }

  async finish(owner: Owner): Promise<boolean> {
    const commandId = this.#commands.get(owner.sessionId);
    // Without work there is nothing to finish.
    if (commandId === undefined) return this.write(owner);
    const isFinished = await isAllowed(this.#database.commands.finish(owner, commandId, { ok: true }));
    if (isFinished) this.#commands.delete(owner.sessionId);
    return isFinished;
  }

  async release(owner: Owner): Promise<boolean> {
    return isAllowed(this.#database.sessions.release(owner));
  }

  async snapshot(): Promise<OwnershipSnapshot> {
    const nodes = (await this.#database.nodes.list()).map(
      ({ id, name, lease_until: leaseUntil, state }) =>
        [id, { name, leaseUntil, isDraining: state === "draining" }] as const,
    );
    const rows = await this.#database.store.db.selectFrom("session").selectAll().execute();
    const sessions = rows.map(
      ({ id, node_id: nodeId, last_node: lastNode, epoch, ready_at: readyAt }) =>
        [id, { nodeId, lastNode, epoch, readyAt }] as const,
    );
    return { nodes: byId(nodes, ([id]) => id), sessions: byId(sessions, ([id]) => id) };
  }
}

async function isAllowed(write: Promise<unknown>): Promise<boolean> {
  return write.then(
    () => true,
    (error: unknown) => {
      if (DaemonError.is(error) && error.code === "fenced") return false;
      throw error;
    },
  );
}

/** Carries out each operation on a real database and on the model, and throws if the results differ. */
export class LockStepStore implements OwnershipStore {
  readonly #real: DatabaseStore;
  readonly #model: ModelStore;

  private constructor(real: DatabaseStore, model: ModelStore) {
    this.#real = real;
    this.#model = model;
  }

  static async create(database: Database): Promise<LockStepStore> {
    const real = await DatabaseStore.create(database);
    return new LockStepStore(real, new ModelStore(await real.now()));
  }

  async advance(ms: number): Promise<void> {
    await this.#both("advance", (store) => store.advance(ms));
  }

  async addSession(): Promise<string> {
    return this.#model.addSession(await this.#real.addSession());
  }

  async addWork(sessionId: string): Promise<void> {
    await this.#both("addWork", (store) => store.addWork(sessionId));
  }

  async register(name: string): Promise<string> {
    return this.#model.register(name, await this.#real.register(name));
  }

  async renew(nodeId: string, isDraining?: boolean): Promise<boolean> {
    return this.#both(`renew ${nodeId}`, (store) => store.renew(nodeId, isDraining));
  }

  async retire(nodeId: string): Promise<void> {
    await this.#both("retire", (store) => store.retire(nodeId));
  }

  async ownedBy(nodeId: string): Promise<readonly string[]> {
    return this.#both(`ownedBy ${nodeId}`, (store) => store.ownedBy(nodeId));
  }

  async claim(request: ClaimRequest): Promise<readonly Owner[]> {
    return this.#both(`claim ${JSON.stringify(request)}`, (store) => store.claim(request));
  }

  async write(owner: Owner): Promise<boolean> {
    return this.#both(`write ${JSON.stringify(owner)}`, (store) => store.write(owner));
  }

  async finish(owner: Owner): Promise<boolean> {
    return this.#both(`finish ${JSON.stringify(owner)}`, (store) => store.finish(owner));
  }

  async release(owner: Owner): Promise<boolean> {
    return this.#both(`release ${JSON.stringify(owner)}`, (store) => store.release(owner));
  }

  /** Throws if the whole states differ. */
  async snapshot(): Promise<OwnershipSnapshot> {
    return this.#both("snapshot", (store) => store.snapshot());
  }

  async #both<Result>(what: string, operate: (store: OwnershipStore) => Promise<Result>): Promise<Result> {
    const before = await this.#model.snapshot();
    const [real, model] = [await operate(this.#real), await operate(this.#model)];
    if (isDeepStrictEqual(real, model)) return real;
    throw new Error(
      `${what}: the database returned ${JSON.stringify(real)}, the model ${JSON.stringify(model)}. Before: ${JSON.stringify(before)}`,
    );
  }
}
