import { TestLocations } from "@codexkit/store/testing";
import { afterAll, beforeAll } from "vitest";
import type { NewSessionEvent, SessionEvent } from "../src/api/event.ts";
import type { SessionSettings } from "../src/api/settings.ts";
import { openDatabase, type Database, type OpenDatabaseOptions } from "../src/database.ts";
import type { NewApproval } from "../src/inbox/new-approval.ts";
import type { NewSession } from "../src/session-store/session-store.ts";
import type { ClaimedSession } from "../src/database/ownership.ts";

export const SETTINGS: SessionSettings = {
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
};

export const NODE = { name: "here", version: "0.1.0", codexVersion: "0.166.0" };

export interface DatabaseFixture {
  /** Creates an empty location. */
  location(): Promise<string>;
  /** Opens a database at a new location, or again at a given one. */
  open(options?: OpenDatabaseOptions & { readonly location?: string }): Promise<Database>;
  readonly locations: TestLocations;
}

/** Locations for the tests of a `describe` block. */
export function useDatabases(kind: "sqlite" | "postgres"): DatabaseFixture {
  let locations: TestLocations;
  beforeAll(async () => {
    locations = await TestLocations.start(kind);
  });
  afterAll(() => locations[Symbol.asyncDispose]());
  return {
    location: () => locations.create(),
    open: async ({ location, ...options } = {}) =>
      openDatabase(location ?? (await locations.create()), options),
    get locations() {
      return locations;
    },
  };
}

/** A request to run a command, with two offers. */
export const NEW_APPROVAL: NewApproval = {
  threadId: "thread",
  requestId: 1,
  kind: "command",
  fingerprint: "f",
  request: {
    kind: "command",
    action: "command",
    command: "ls",
    cwd: "/",
    reason: null,
    network: null,
    additionalPermissions: null,
  },
  offers: [
    { id: "accept", label: "Run it", accepts: true, scope: "call", stores: null },
    { id: "decline", label: "Don't run it", accepts: false, scope: "call", stores: null },
  ],
};

let keys = 0;

export function newSession(more: Partial<NewSession> = {}): NewSession {
  keys += 1;
  return { cwd: "/work", settings: SETTINGS, by: "tester", key: `key-${keys}`, ...more };
}

/** Creates a session with the thread ID `thread` that a new node owns. Its `create` command is finished. */
export async function ownedSession(
  database: Database,
  { name = NODE.name, ...more }: Partial<NewSession> = {},
): Promise<ClaimedSession> {
  const { session, command } = await database.sessions.insert(newSession(more));
  const nodeId = await database.nodes.register({ ...NODE, name });
  const owned = await claimOne(database, nodeId, session.id, name);
  if (command) {
    await database.commands.finish(
      owned,
      command.id,
      { ok: true },
      { changes: { threadId: "thread", phase: "idle" } },
    );
  }
  return owned;
}

export async function claimOne(
  database: Database,
  nodeId: string,
  sessionId: string,
  name = NODE.name,
): Promise<ClaimedSession> {
  const claimed = await database.sessions.claim({
    nodeId,
    name,
    limit: 100,
    labels: [],
    codexVersion: "0.166.0",
  });
  const found = claimed.find((session) => session.sessionId === sessionId);
  if (!found) throw new Error(`Session ${sessionId} was not claimed.`);
  return found;
}

export function delta(text: string, offset: number, more: object = {}): NewSessionEvent {
  return {
    type: "item.delta",
    threadId: "thread",
    turnId: "turn",
    itemId: "item",
    kind: "message",
    delta: text,
    offset,
    ...more,
  };
}

export function warning(message: string): NewSessionEvent {
  return { type: "warning", kind: "server", message };
}

/** Reads all events of a session, and checks that they have no gap. */
export async function allEvents(database: Database, sessionId: string): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (let after = 0; ; after = events.at(-1)?.seq ?? 0) {
    const page = await database.journal.read(sessionId, { after, limit: 1_000 });
    if (page.gap) throw new Error(`The journal has a gap from ${page.gap.from} to ${page.gap.to}.`);
    if (page.events.length === 0) return events;
    events.push(...page.events);
    assertGapless(events);
  }
}

export function assertGapless(events: readonly SessionEvent[], after = 0): void {
  let last = after;
  for (const event of events) {
    const first = event.type === "item.delta" ? (event.mergedFrom ?? event.seq) : event.seq;
    if (first !== last + 1) throw new Error(`Event ${event.seq} follows ${last}.`);
    last = event.seq;
  }
}
