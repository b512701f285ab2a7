import { callTool, run, say, type ScriptFunction, type ScriptRequest } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { CodexError } from "codexkit";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownedSession, useDatabases } from "../../test/database-fixture.ts";
import { textsOf } from "../../test/killed-runner.ts";
import { pollUntil } from "../../test/poll-until.ts";
import { replyWithMessages } from "../../test/reply-with-messages.ts";
import { startNode, startRunner, type TestRunner, TestSession } from "../../test/start-runner.ts";
import { exportSession } from "../transfer/export-session.ts";
import { importSession } from "../transfer/import-session.ts";
import { LINE_BYTES, readSessionFile } from "../transfer/read-session-file.ts";
import { AGENT_LIMITS, AgentRollouts, type AgentSource } from "./agent-rollouts.ts";
import { createRunner } from "./create-runner.ts";
import { RolloutShipper } from "./rollout-shipper.ts";

const LIMITS = { retryMs: 50, claimMs: 50 };
const agents = { namespace: "multi_agent_v1" };

/**
 * The message `start` starts an agent with the message `first`, and `nest` one that starts another. `again` sends `second` to the
 * agent of the thread. An agent replies with the messages that it has heard.
 */
const script: ScriptFunction = (request) => {
  const { lastUserText, newOutputs } = request;
  switch (lastUserText) {
    case "start":
      return delegate(request, "first");
    case "nest":
      return delegate(request, "start");
    case "again":
      return messageAgent(request);
    case "ask":
      return newOutputs.length > 0 ? say("asked") : run("touch made", { escalate: "why" });
    default:
      return say(replyWithMessages(request, ["first", "second"]));
  }
};

function delegate(request: ScriptRequest, message: string): ReturnType<ScriptFunction> {
  if (!request.output("spawn")) return callTool("spawn_agent", { message }, { ...agents, callId: "spawn" });
  if (request.output("wait")) return say("delegated");
  return callTool("wait_agent", { targets: [agentOf(request)] }, { ...agents, callId: "wait" });
}

function messageAgent(request: ScriptRequest): ReturnType<ScriptFunction> {
  const target = agentOf(request);
  if (!request.output("resume"))
    return callTool("resume_agent", { id: target }, { ...agents, callId: "resume" });
  if (!request.output("send"))
    return callTool("send_input", { target, message: "second" }, { ...agents, callId: "send" });
  if (request.output("reply")) return say("messaged");
  return callTool("wait_agent", { targets: [target] }, { ...agents, callId: "reply" });
}

function agentOf(request: ScriptRequest): string {
  return /"agent_id":"(?<id>[^"]+)"/.exec(request.output("spawn")?.text ?? "")?.groups?.["id"] ?? "";
}

/** Sends a message and waits for the end of its turn. */
async function talk(session: TestSession, text: string): Promise<void> {
  const result = await session.send(text);
  expect(result).toMatchObject({ ok: true });
  await session.ended(result.ok && result["turnId"]);
}

async function repliesOf(session: TestSession): Promise<readonly string[]> {
  const texts = textsOf(await session.events(), "agentMessage");
  return texts.filter((text) => text.startsWith("heard"));
}

const AGENT_REPLIES = ["heard: first", "heard: first, second"];

/** Expects that the complete files of a number of agents are stored. */
async function expectStored({ database, stateFolder }: TestRunner, session: TestSession, count: number) {
  await pollUntil(async () => {
    const files = (await database.rollouts.lineage(session.id)).filter(({ role }) => role === "agent");
    const sizes = await Promise.all(files.map(({ path }) => stat(join(stateFolder, "codex", path))));
    return files.length === count && files.every(({ bytes }, index) => bytes === sizes[index]?.size);
  });
}

describe.each(STORE_KINDS)("an agent, on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (): Promise<TestRunner> =>
    startRunner(script, { location: await databases.location(), nodeName: "a", limits: LIMITS });

  test("keeps its history when its session moves to another node and back", async () => {
    await using stage = await start();
    const session = await stage.create();
    await talk(session, "start");
    await stage.runner.drain(0);
    {
      await using b = await startNode(stage, "b");
      await talk(session, "again");
      expect(await repliesOf(session)).toEqual(AGENT_REPLIES);
      await b.drain(0);
    }
    await using a = createRunner(stage.options);
    await a.start();
    await talk(session, "done?");
    await expectStored(stage, session, 1);
  });

  test("keeps its history when its thread is parked", async () => {
    await using stage = await start();
    const session = await stage.create({ permissionMode: "read-only" });
    await talk(session, "start");
    await session.send("ask");
    const [approval] = await session.approval();
    expect(await session.run("park", {})).toMatchObject({ ok: true });
    await session.answer(approval, { type: "decision", offer: "decline" });
    await session.event(({ type }) => type === "inbox.delivered");
    await session.event((event) => textsOf([event], "agentMessage")[0] === "asked");
    await talk(session, "again");
    expect(await repliesOf(session)).toEqual(AGENT_REPLIES);
  });
});

test("an agent keeps its history in an exported session", async () => {
  await using source = await startRunner(script, { limits: LIMITS });
  await using target = await startRunner(script, { limits: LIMITS });
  const session = await source.create();
  await talk(session, "start");
  await pollUntil(async () => (await session.row()).phase === "idle");
  const path = join(target.stateFolder, "exported");
  await writeFile(path, await exportSession(source.database, session.id));
  const { session: row } = await importSession(target.database, readSessionFile(path, LINE_BYTES), {
    cwd: target.workspace,
    needs: [],
    nodeName: "local",
    maxSessions: 100,
    by: "test",
    isTrusted: true,
  });
  const imported = new TestSession(row.id, target.database);
  await talk(imported, "again");
  expect(await repliesOf(imported)).toEqual(AGENT_REPLIES);
});

test("the files of nested agents are stored", async () => {
  await using stage = await startRunner(script, {
    limits: LIMITS,
    codex: { config: { agents: { max_depth: 2 } } },
  });
  const session = await stage.create();
  await talk(session, "nest");
  await expectStored(stage, session, 2);
});

test("the file of an agent that was started before a restart is stored when its session is loaded", async () => {
  await using stage = await startRunner(script, { limits: LIMITS });
  const session = await stage.create();
  await talk(session, "start");
  await stage.runner.close();
  // As if a version that did not store the files of agents had started the agent.
  const { db } = stage.database.store;
  const agent = (await stage.database.rollouts.lineage(session.id)).find(({ role }) => role === "agent");
  for (const table of ["session_rollout", "rollout_chunk"] as const) {
    await db
      .deleteFrom(table)
      .where("rollout_id", "=", agent?.id ?? "")
      .execute();
  }
  await db
    .deleteFrom("rollout")
    .where("id", "=", agent?.id ?? "")
    .execute();
  await using next = createRunner(stage.options);
  await next.start();
  await talk(session, "hello");
  await expectStored(stage, session, 1);
});

describe("the search for an agent's file", () => {
  const databases = useDatabases("sqlite");

  async function startSearch(source: Partial<AgentSource>) {
    await using made = new AsyncDisposableStack();
    const database = made.use(await databases.open());
    const owner = await ownedSession(database);
    const folder = await mkdtemp(join(tmpdir(), "codexkit-agents-"));
    made.defer(() => rm(folder, { recursive: true }));
    const rollouts = new RolloutShipper(database.rollouts, owner, folder);
    const warnings: string[] = [];
    const onError = (error: unknown): void => expect.fail(String(error));
    const search = new AgentRollouts({
      state: { sessionId: owner.sessionId, threadId: "root" },
      rollouts,
      store: database.rollouts,
      onLines: (step) => database.journal.enqueue(owner, [], { also: step, onError }),
      onWarning: (_, message) => warnings.push(message),
    });
    const codex = source as AgentSource;
    const resources = made.move();
    return {
      database,
      owner,
      search,
      rollouts,
      warnings,
      thread: async (id: string): Promise<Awaited<ReturnType<AgentSource["readThread"]>>> => {
        const path = join(folder, `rollout-2026-11-16T15-25-44-${id}.jsonl`);
        await writeFile(path, `{"type":"session_meta"}\n`);
        return { id, path, parentThreadId: "root", ephemeral: false } as never;
      },
      /** Delivers an event of a thread, and waits for the search that it starts. */
      receive: async (threadId: string): Promise<void> => {
        search.observe({ type: "turn.started", threadId, turnId: "turn" } as never, codex);
        await search.settled(5_000);
      },
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  }

  test("is repeated at the next event if the path can't be read, for a limited number of events", async () => {
    let calls = 0;
    let found: (() => Promise<never>) | undefined;
    const readThread = async () => {
      calls += 1;
      if (!found) throw new CodexError("request_failed", "The thread is not loaded.");
      return found();
    };
    await using stage = await startSearch({ readThread });
    await stage.receive("root");
    expect(calls).toBe(0);
    for (let event = 0; event < AGENT_LIMITS.attempts + 5; event += 1) await stage.receive("lost");
    expect(calls).toBe(AGENT_LIMITS.attempts);
    await stage.receive("agent");
    expect(stage.rollouts.isFollowing("agent")).toBe(false);
    found = async () => (await stage.thread("agent")) as never;
    await stage.receive("agent");
    expect(stage.rollouts.isFollowing("agent")).toBe(true);
    await pollUntil(async () => (await stage.database.rollouts.storedBytes("agent")) > 0);
    expect(await stage.database.rollouts.lineage(stage.owner.sessionId)).toMatchObject([
      { id: "agent", role: "agent" },
    ]);
    expect(stage.warnings).toEqual([]);
    // The files were replaced, as after a restore.
    stage.rollouts.forget();
    await stage.receive("agent");
    expect(stage.rollouts.isFollowing("agent")).toBe(true);
  });

  test("ignores threads that are not stored or are no agents", async () => {
    let calls = 0;
    const threads: Record<string, object> = {
      temporary: { id: "temporary", path: null, parentThreadId: "root", ephemeral: true },
      former: { id: "former", path: "/former.jsonl", parentThreadId: null, ephemeral: false },
    };
    const readThread = async (id: string) => {
      calls += 1;
      return threads[id] as never;
    };
    await using stage = await startSearch({ readThread });
    for (const id of ["temporary", "former", "temporary", "former"]) await stage.receive(id);
    expect(calls).toBe(2);
    expect(stage.rollouts.isFollowing("former")).toBe(false);
  });

  test("stores a limited number of agents", async () => {
    await using stage = await startSearch({ readThread: (id) => stage.thread(id) });
    for (let agent = 0; agent <= AGENT_LIMITS.stored; agent += 1) await stage.receive(`agent-${agent}`);
    expect(stage.rollouts.isFollowing(`agent-${AGENT_LIMITS.stored - 1}`)).toBe(true);
    expect(stage.rollouts.isFollowing(`agent-${AGENT_LIMITS.stored}`)).toBe(false);
    expect(stage.warnings).toHaveLength(1);
  });

  test("does not fail if Codex can't list the agents", async () => {
    // oxlint-disable-next-line require-yield -- It fails before the first agent.
    const listThreads: AgentSource["listThreads"] = async function* () {
      throw new CodexError("request_failed", "The database is locked.");
    };
    await using stage = await startSearch({ listThreads });
    await stage.search.followAll({ listThreads } as AgentSource, "root");
    expect(stage.warnings).toHaveLength(1);
  });
});
