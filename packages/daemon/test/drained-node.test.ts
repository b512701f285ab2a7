// A drained node keeps its lease while its process runs, so that it is not mistaken for a lost one.
import { STORE_KINDS } from "@codexkit/store/testing";
import { say } from "@codexkit/scripted-model";
import { describe, expect, test } from "vitest";
import { forgetNode } from "../src/fleet/forget-node.ts";
import { useDatabases } from "./database-fixture.ts";
import { startRunner, type TestRunner } from "./start-runner.ts";

describe.each(STORE_KINDS)("a drained node on %s", (kind) => {
  const databases = useDatabases(kind);

  async function statesIn({ database }: TestRunner): Promise<Record<string, string>> {
    return Object.fromEntries((await database.fleet.list(null)).map(({ name, state }) => [name, state]));
  }

  test("is listed and can't be removed until it is closed, even if all nodes are drained", async () => {
    const location = await databases.location();
    await using first = await startRunner(() => [say("Hello.")], { nodeName: "first", location });
    const session = await first.create();
    await session.send("hello");
    await session.ended();
    const { db } = first.database.store;
    const needs = JSON.stringify(["node:first"]);
    await db.updateTable("session").set({ needs }).where("id", "=", session.id).execute();
    const nodeId = first.runner.status.nodeId ?? "";
    const expected: Record<string, string> = { first: "draining" };
    await using made = new AsyncDisposableStack();
    // A SQLite store has only one node.
    if (kind === "postgres") {
      const second = made.use(await startRunner(() => [say("Hello.")], { nodeName: "second", location }));
      await second.runner.releaseSessions(0);
      expected["second"] = "draining";
    }
    await first.runner.releaseSessions(0);

    expect(await statesIn(first)).toEqual(expected);
    const remove = () => forgetNode(first.database, nodeId, { rehome: false, by: "x" });
    await expect(remove()).rejects.toMatchObject({ code: "unprocessable" });
    expect(await first.database.sessions.require(session.id)).toMatchObject({ phase: "idle", node_id: null });

    await first.runner.close();
    expect(await statesIn(first)).toMatchObject({ first: "lost" });
    await remove();
    expect(await first.database.sessions.require(session.id)).toMatchObject({ phase: "failed" });
  });
});
