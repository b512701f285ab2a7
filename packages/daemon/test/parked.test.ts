// Every kind of request survives a kill of the daemon and codex, and a move to another daemon.
import { expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import type { DaemonClient } from "../src/client/client.ts";
import { startDaemonProcess } from "./daemon-process.ts";
import { useDatabases } from "./database-fixture.ts";
import {
  answerFor,
  PARKED_KINDS,
  type ParkedKind,
  parkedScript,
  prepareCodex,
  runsOf,
} from "./parked-kinds.ts";
import { pollUntil } from "./poll-until.ts";
import { createDaemonHome, type DaemonHome } from "./start-daemon.ts";

const sqlite = useDatabases("sqlite");
const postgres = useDatabases("postgres");

interface Case {
  readonly kind: ParkedKind;
  readonly decision: "accept" | "decline";
  readonly name: string;
  readonly sessionId: string;
}

async function createHome(databases: typeof sqlite, kind: "sqlite" | "postgres"): Promise<DaemonHome> {
  const home = await createDaemonHome(parkedScript, { kind, locations: databases.locations });
  await prepareCodex(home.stateFolder);
  return home;
}

async function openAll(client: DaemonClient, cwd: string, way: string): Promise<readonly Case[]> {
  return Promise.all(
    Object.entries(PARKED_KINDS).flatMap(([key, kind]) =>
      (["accept", "decline"] as const).map(async (decision) => {
        const { session } = await client.createSession({ cwd, permissionMode: "read-only", ...kind.session });
        const name = `${key.replaceAll(" ", "_")}-${decision}-${way}`;
        await client.send(session.id, name);
        return { kind, decision, name, sessionId: session.id };
      }),
    ),
  );
}

async function approvalsOf(client: DaemonClient, state: "open" | "parked") {
  const { data } = await client.request("GET /inbox", { query: { state, limit: 200 } });
  return data;
}

async function answerAll(client: DaemonClient, cases: readonly Case[]): Promise<void> {
  const approvals = await approvalsOf(client, "parked");
  for (const { sessionId, kind, decision } of cases) {
    const own = approvals.filter((approval) => approval.sessionId === sessionId);
    expect(own).toHaveLength(kind.requests ?? 1);
    for (const { id, state, parkedAt } of own) {
      expect({ state, parkedAt }).toEqual({ state: "parked", parkedAt: expect.any(Number) as number });
      await client.answer(id, answerFor(kind, decision));
    }
  }
}

async function checkAll(
  client: DaemonClient,
  workspace: string,
  cases: readonly Case[],
  isMoved = false,
): Promise<void> {
  for (const { sessionId, kind, decision, name } of cases) {
    const events = await eventsOfEndedTurn(client, sessionId);
    const end = events.at(-1);
    const outputs =
      end?.type === "turn.completed"
        ? (JSON.parse(end.result.finalResponse ?? "[]") as string[])
        : [end?.type];
    expect.soft(outputs, name).toHaveLength(1);
    expect.soft(outputs[0], name).toMatch(decision === "accept" ? kind.accepted : kind.declined);
    // The grant is for the folder on the first daemon. After a move, the session has another folder.
    const isMovedGrant = name.startsWith("permissions") && isMoved;
    const runs = decision === "accept" && !isMovedGrant ? kind.runs : 0;
    expect.soft(await runsOf(workspace, name), name).toBe(runs);
    const types = events.map(({ type }) => type);
    expect
      .soft(
        types.filter((type) => type === "inbox.opened"),
        name,
      )
      .toHaveLength(kind.requests ?? 1);
  }
}

/** Reads the events up to the end of the turn that was continued by the answer. */
async function eventsOfEndedTurn(client: DaemonClient, sessionId: string): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  let isAnswered = false;
  for await (const event of client.sessionEvents(sessionId, { signal: AbortSignal.timeout(25_000) })) {
    events.push(event);
    if (event.type === "inbox.answered") isAnswered = true;
    if (isAnswered && /^turn\.(?:completed|failed|interrupted)$/.test(event.type)) break;
  }
  return events;
}

/** Copies a session to another daemon. An export fails if its session changes meanwhile, such as when events are merged. */
async function copySession(
  sessionId: string,
  from: DaemonClient,
  to: DaemonClient,
  options: Parameters<DaemonClient["importSession"]>[1],
): ReturnType<DaemonClient["importSession"]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await to.importSession(await from.exportSession(sessionId), options);
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

test("approvals of every kind survive a kill of the daemon and codex, and a move to another daemon", async () => {
  await using home = await createHome(postgres, "postgres");
  await using other = await createHome(sqlite, "sqlite");
  const { workspace } = home.folders;
  await using stack = new AsyncDisposableStack();
  const daemon = await startDaemonProcess(home);
  stack.defer(() => daemon.end("SIGKILL"));
  const { client: first } = daemon;
  const hook = await first.request("POST /webhooks", {
    body: { url: "https://example.invalid/", events: ["approval.opened"] },
  });
  const all = await openAll(first, workspace, "moved");
  const requests = all.reduce((sum, { kind }) => sum + (kind.requests ?? 1), 0);
  await pollUntil(async () => (await approvalsOf(first, "open")).length === requests);
  const { runner } = await first.request("GET /diagnostics");
  const { appServers } = runner as { appServers: { pid: number }[] };
  await daemon.end("SIGKILL");
  for (const { pid } of appServers) process.kill(pid, "SIGKILL");

  await using here = await home.start();
  await using there = await other.start();
  const { client } = here;
  await pollUntil(async () => (await approvalsOf(client, "parked")).length === requests);
  expect(await client.request("GET /metrics")).toContain(`codexkit_parked_approvals ${requests}\n`);

  // An export is a copy: the sessions continue on both daemons.
  const moved: Case[] = [];
  for (const { sessionId, ...rest } of all) {
    const { session: imported, leftOut } = await copySession(sessionId, client, there.client, {
      cwd: other.folders.workspace,
      trust: true,
    });
    expect(leftOut).toEqual({
      mcpServers: [],
      tools: [],
      environment: null,
      permissionMode: null,
      answers: 0,
    });
    expect(imported).toMatchObject({ phase: "parked" });
    moved.push({ ...rest, sessionId: imported.id });
  }
  await Promise.all([answerAll(client, all), answerAll(there.client, moved)]);
  await checkAll(client, workspace, all);
  await checkAll(there.client, other.folders.workspace, moved, true);

  const [answered] = all;
  const { data } = await client.request("GET /inbox", { query: { sessionId: answered?.sessionId ?? "" } });
  await expect(
    client.answer(data[0]?.id ?? "", { type: "decision", offer: "decline" }),
  ).rejects.toMatchObject({ problem: { type: "already_answered", winner: { state: "delivered" } } });
  const sent = await client.request("GET /webhooks/{webhookId}/deliveries", {
    params: { webhookId: hook.webhook.id },
    query: { limit: 200 },
  });
  expect(sent.data).toHaveLength(requests);
}, 120_000);
