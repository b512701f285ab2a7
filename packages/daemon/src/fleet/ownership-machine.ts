// Pure: the rules by which nodes own sessions. The store carries them out in SQL: `node-store.ts`, `claim-sessions.ts` and the fence of
// the journal. A test applies the same operations to both and compares them. Placement by labels and tenants is not part of it.

export interface NodeRecord {
  readonly name: string;
  /** On the clock of the store. 0 if the node was retired, so that it can never renew its lease again. */
  readonly leaseUntil: number;
  /** Whether it claims no more sessions. */
  readonly isDraining: boolean;
}

export interface SessionRecord {
  /** The boot of a node that owns it. */
  readonly nodeId: string | null;
  /** The name of the node that claimed it last. */
  readonly lastNode: string | null;
  readonly epoch: number;
  /** Since when it has work. Null if it has none. */
  readonly readyAt: number | null;
}

export interface OwnershipState {
  readonly nodes: ReadonlyMap<string, NodeRecord>;
  readonly sessions: ReadonlyMap<string, SessionRecord>;
}

/** The right to write to a session, until another claim raises its epoch or it is released. */
export interface Owner {
  readonly sessionId: string;
  readonly nodeId: string;
  readonly epoch: number;
}

export interface Claim {
  readonly nodeId: string;
  readonly name: string;
  /** The time of the store. */
  readonly at: number;
  /** Whether sessions of nodes whose lease has ended are claimed: see `mayTakeOver` of the lease machine. */
  readonly mayTakeOver: boolean;
  /** Maximum number of claimed sessions that have no owner. */
  readonly readyLimit: number;
  /** How long a session is reserved for its last node while that node is up. */
  readonly affinityMs: number;
}

export const NO_OWNERS: OwnershipState = { nodes: new Map(), sessions: new Map() };

/** Starts a boot of a node. Its former boots are retired. */
export function registerNode(
  state: OwnershipState,
  {
    nodeId,
    name,
    leaseUntil,
  }: { readonly nodeId: string; readonly name: string; readonly leaseUntil: number },
): OwnershipState {
  const nodes = new Map(state.nodes);
  for (const [id, node] of nodes) if (node.name === name) nodes.set(id, { ...node, leaseUntil: 0 });
  return { ...state, nodes: nodes.set(nodeId, { name, leaseUntil, isDraining: false }) };
}

/** Extends a lease, also one that has ended. Undefined if the node was retired, because its sessions may have other owners by now. */
export function renewLease(
  state: OwnershipState,
  nodeId: string,
  { leaseUntil, isDraining = false }: { readonly leaseUntil: number; readonly isDraining?: boolean },
): OwnershipState | undefined {
  const node = state.nodes.get(nodeId);
  if (!node || node.leaseUntil === 0) return undefined;
  return { ...state, nodes: new Map(state.nodes).set(nodeId, { ...node, leaseUntil, isDraining }) };
}

/** Ends a lease for good. */
export function retireNode(state: OwnershipState, nodeId: string): OwnershipState {
  const node = state.nodes.get(nodeId);
  return node ? { ...state, nodes: new Map(state.nodes).set(nodeId, { ...node, leaseUntil: 0 }) } : state;
}

/**
 * Gives a session work. If it has some already, it keeps its place. A session that a lost node has left behind without work waits
 * for a node then.
 */
export function addWork(state: OwnershipState, sessionId: string, at: number): OwnershipState {
  const session = state.sessions.get(sessionId) ?? { nodeId: null, lastNode: null, epoch: 0, readyAt: null };
  if (session.readyAt !== null) return withSession(state, sessionId, session);
  const owner = session.nodeId === null ? undefined : state.nodes.get(session.nodeId);
  const isLost = owner !== undefined && owner.leaseUntil < at;
  return withSession(state, sessionId, { ...session, readyAt: at, ...(isLost && { nodeId: null }) });
}

/**
 * Claims sessions of former boots, this node's share of the sessions of lost nodes, and sessions without an owner. Each claim raises
 * the epoch.
 */
export function claimSessions(
  state: OwnershipState,
  claim: Claim,
): { readonly state: OwnershipState; readonly claimed: readonly Owner[] } {
  const find = (isWanted: typeof isOfFormerBoot): (readonly [string, SessionRecord])[] =>
    [...state.sessions]
      .filter(([, session]) => isWanted(state, session, claim))
      .toSorted(([, a], [, b]) => (a.readyAt ?? 0) - (b.readyAt ?? 0));
  const lost = claim.mayTakeOver ? find(isOfLostNode) : [];
  const peers = [...state.nodes.values()].filter((node) => node.name !== claim.name && isUp(node, claim.at));
  const taken = [
    ...find(isOfFormerBoot),
    ...lost.slice(0, Math.ceil(lost.length / (1 + peers.length))),
    ...find(isWaiting).slice(0, claim.readyLimit),
  ];
  const sessions = new Map(state.sessions);
  const claimed = taken.map(([sessionId, session]): Owner => {
    const { nodeId, name: lastNode } = claim;
    const epoch = session.epoch + 1;
    sessions.set(sessionId, { ...session, nodeId, lastNode, epoch });
    return { sessionId, nodeId, epoch };
  });
  return { state: { ...state, sessions }, claimed };
}

/** The fence: whether an owner may still write. */
export function mayWrite({ sessions }: OwnershipState, { sessionId, nodeId, epoch }: Owner): boolean {
  const session = sessions.get(sessionId);
  return session?.nodeId === nodeId && session.epoch === epoch;
}

/** Ends the work of a session. Undefined if the owner is fenced. */
export function finishWork(state: OwnershipState, owner: Owner): OwnershipState | undefined {
  return changeOwn(state, owner, { readyAt: null });
}

/** Gives a session up. Undefined if the owner is fenced. */
export function releaseSession(state: OwnershipState, owner: Owner): OwnershipState | undefined {
  return changeOwn(state, owner, { nodeId: null });
}

function isUp({ leaseUntil, isDraining }: NodeRecord, at: number): boolean {
  return leaseUntil >= at && !isDraining;
}

function isOfFormerBoot({ nodes }: OwnershipState, { nodeId }: SessionRecord, claim: Claim): boolean {
  return nodeId !== null && nodeId !== claim.nodeId && nodes.get(nodeId)?.name === claim.name;
}

/** A session without work can stay with a lost node. */
function isOfLostNode({ nodes }: OwnershipState, session: SessionRecord, { name, at }: Claim): boolean {
  const owner = session.nodeId === null ? undefined : nodes.get(session.nodeId);
  return owner !== undefined && owner.name !== name && owner.leaseUntil < at && session.readyAt !== null;
}

/** A session is reserved for its last node for a while. */
function isWaiting(
  { nodes }: OwnershipState,
  session: SessionRecord,
  { name, at, affinityMs }: Claim,
): boolean {
  const { nodeId, lastNode, readyAt } = session;
  if (nodeId !== null || readyAt === null || readyAt > at) return false;
  if (lastNode === null || lastNode === name || readyAt <= at - affinityMs) return true;
  return ![...nodes.values()].some((node) => node.name === lastNode && isUp(node, at));
}

function changeOwn(
  state: OwnershipState,
  owner: Owner,
  changes: Partial<SessionRecord>,
): OwnershipState | undefined {
  const session = state.sessions.get(owner.sessionId);
  if (!session || !mayWrite(state, owner)) return undefined;
  return withSession(state, owner.sessionId, { ...session, ...changes });
}

function withSession(state: OwnershipState, sessionId: string, session: SessionRecord): OwnershipState {
  return { ...state, sessions: new Map(state.sessions).set(sessionId, session) };
}
