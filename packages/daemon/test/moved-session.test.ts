import { gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { join } from "node:path";
import { stat } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { useDatabases } from "./database-fixture.ts";
import { startNode, startRunner, type TestRunner, TestSession } from "./start-runner.ts";
import { textsOf } from "./killed-runner.ts";
import { replyWithMessages } from "./reply-with-messages.ts";
import { DaemonError } from "../src/errors.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import type { Runner } from "../src/sessions/runner.ts";

const MESSAGES = ["one", "two", "three", "instead", "of the fork", "more"];

const recall: ScriptFunction = (request) => say(replyWithMessages(request, MESSAGES));

/** Sends a message, and returns the response of the model. */
async function talk(session: TestSession, text: string): Promise<string | undefined> {
  const result = await session.send(text);
  expect(result).toMatchObject({ ok: true });
  await session.ended(result.ok && result["turnId"]);
  return textsOf(await session.events(), "agentMessage").at(-1);
}

/** Drains a node, which releases its sessions. */
const leave = (runner: Runner): Promise<void> => runner.drain(0);

describe.each(STORE_KINDS)("a session that moves, on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (script: ScriptFunction): Promise<TestRunner> =>
    startRunner(script, {
      location: await databases.location(),
      nodeName: "a",
      limits: { retryMs: 50, claimMs: 50 },
    });

  test("to another node and back has exactly its own history", async () => {
    await using stage = await start(recall);
    const session = await stage.create();
    expect(await talk(session, "one")).toBe("heard: one");
    await leave(stage.runner);
    await using b = await startNode(stage, "b");
    expect(await talk(session, "two")).toBe("heard: one, two");
    await leave(b);
    await using a = createRunner(stage.options);
    await a.start();
    expect(await talk(session, "three")).toBe("heard: one, two, three");
    const moves = (await session.events()).filter(({ type }) => type === "session.moved");
    expect(moves).toMatchObject([
      { from: "a", to: "b", reason: "drain" },
      { from: "b", to: "a", reason: "drain" },
    ]);
    expect(textsOf(await session.events(), "userMessage")).toEqual(["one", "two", "three"]);
  });

  test("after a revert on another node does not restore the removed turns", async () => {
    await using stage = await start(recall);
    const session = await stage.create();
    await talk(session, "one");
    const { turnId } = (await session.send("two")) as unknown as { turnId: string };
    await session.ended(turnId);
    await leave(stage.runner);
    await using b = await startNode(stage, "b");
    expect(await session.run("revert", { beforeTurnId: turnId })).toMatchObject({ ok: true });
    expect(await talk(session, "instead")).toBe("heard: one, instead");
    await leave(b);
    await using a = createRunner(stage.options);
    await a.start();
    expect(await talk(session, "more")).toBe("heard: one, instead, more");
  });

  test("stores a revert with its result, so that a node that is lost then brings no removed turn back", async () => {
    await using stage = await start(recall);
    const session = await stage.create();
    await talk(session, "one");
    const { turnId } = (await session.send("two")) as unknown as { turnId: string };
    await session.ended(turnId);
    expect(await session.run("revert", { beforeTurnId: turnId })).toMatchObject({ ok: true });
    const stored = await stage.database.store.db
      .selectFrom("session_rollout")
      .select("rollout_id")
      .where("session_id", "=", session.id)
      .execute();
    // The second file continues the first one up to the removed turn.
    expect(stored).toHaveLength(2);
  });

  test("and its fork continue from the stored history, also after the original continued on another node", async () => {
    await using stage = await start(recall);
    const session = await stage.create();
    await talk(session, "one");
    const forked = (await session.run("fork", {})) as unknown as { sessionId: string };
    await leave(stage.runner);
    await using b = await startNode(stage, "b");
    // This node's Codex home has neither of the rollout files.
    const fork = new TestSession(forked.sessionId, stage.database);
    expect(await talk(fork, "of the fork")).toBe("heard: one, of the fork");
    expect(await talk(session, "two")).toBe("heard: one, two");
    const second = (await session.run("fork", {})) as unknown as { sessionId: string };
    await leave(b);
    await using a = createRunner(stage.options);
    await a.start();
    // This node's file of the original ends before the turn at which the second fork was made.
    const again = new TestSession(second.sessionId, stage.database);
    expect(await talk(again, "three")).toBe("heard: one, two, three");
    expect(await talk(fork, "more")).toBe("heard: one, of the fork, more");
    expect(await talk(session, "three")).toBe("heard: one, two, three");
  });

  test("stores a fork and what it continues with the fork's result, so that it is not lost with its node", async () => {
    await using stage = await start(recall);
    const session = await stage.create();
    const { rollouts, commands } = stage.database;
    const append: typeof rollouts.append = rollouts.append.bind(rollouts);
    // The newest lines of the original are not stored with their events.
    const failing: typeof append = async (_trx, _owner, { rolloutId, atByte }) => {
      throw new DaemonError("rollout_mismatch", `${rolloutId} can't be stored at ${atByte}.`);
    };
    Object.assign(rollouts, { append: failing });
    await talk(session, "one");
    Object.assign(rollouts, { append });
    // No owner ever loads the fork, as if the node died right after the result.
    const submit: typeof commands.submit = commands.submit.bind(commands);
    Object.assign(commands, {
      submit: (command: Parameters<typeof submit>[0]) =>
        command.key.startsWith("load:") ? new Promise(() => {}) : submit(command),
    });
    const { sessionId } = (await session.run("fork", {})) as unknown as { sessionId: string };
    const files = await rollouts.lineage(sessionId);
    expect(files.map(({ role }) => role)).toEqual(["main", "base"]);
    for (const { path, bytes } of files) {
      expect(bytes).toBe((await stat(join(stage.stateFolder, "codex", path))).size);
    }
  });

  test("is released at the end of its turn, while the next message waits", async () => {
    const open = gate();
    await using stage = await start(({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(open), "done"]) : say(`received: ${lastUserText}`),
    );
    const session = await stage.create();
    await session.send("hold");
    await session.event(({ type }) => type === "item.delta");
    const next = await session.submit("message", { input: "next", mode: "queue" });
    await using b = await startNode(stage, "b");
    const drained = stage.runner.drain(60_000);
    await expect.poll(() => stage.runner.status.state).toBe("draining");
    open.open();
    await drained;
    expect(await session.result(next)).toMatchObject({ ok: true });
    await session.event((event) => textsOf([event], "agentMessage")[0] === "received: next");
    expect(textsOf(await session.events(), "agentMessage")).toEqual(["half done", "received: next"]);
    expect(b.status.sessions).toBe(1);
  });
});
