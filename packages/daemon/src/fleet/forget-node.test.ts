import { expect, test } from "vitest";
import { NODE, ownedSession, useDatabases } from "../../test/database-fixture.ts";
import { nodeLabel } from "../session-store/needs.ts";
import { forgetNode } from "./forget-node.ts";

const databases = useDatabases("sqlite");

test("a session that could not be failed still belongs to the lost node, and the next call fails it", async () => {
  await using database = await databases.open();
  const owner = await ownedSession(database, { name: "lost" });
  const { sessionId, nodeId } = owner;
  await database.sessions.update(owner, { needs: [nodeLabel("lost")] });
  await database.commands.submit({ sessionId, key: "key", kind: "compact", body: {}, by: "x" });
  await database.nodes.retire(nodeId);
  await database.nodes.register({ ...NODE, name: "here" });
  const { commands } = database;
  const finish = commands.finish.bind(commands);
  commands.finish = async () => {
    commands.finish = finish;
    throw new Error("The store failed.");
  };
  const forget = () => forgetNode(database, nodeId, { rehome: false, by: "x" });
  await expect(forget()).rejects.toThrow("The store failed.");
  expect(await database.sessions.require(sessionId)).toMatchObject({ node_id: nodeId });
  await forget();
  expect(await database.sessions.require(sessionId)).toMatchObject({ phase: "failed", node_id: null });
});

test("a session that failed with its node is continued by the next message if the node returns", async () => {
  await using database = await databases.open();
  const owner = await ownedSession(database, { name: "lost" });
  const { sessionId } = owner;
  const needs = [nodeLabel("lost")];
  await database.sessions.update(owner, { needs });
  await database.nodes.retire(owner.nodeId);
  await forgetNode(database, owner.nodeId, { rehome: false, by: "x" });
  expect(await database.sessions.require(sessionId)).toMatchObject({ phase: "failed" });

  const nodeId = await database.nodes.register({ ...NODE, name: "lost", labels: needs });
  await database.commands.submit({
    sessionId,
    key: "key",
    kind: "message",
    body: { input: "hello", mode: "queue" },
    by: "x",
  });
  const claim = { nodeId, name: "lost", limit: 1, labels: needs, codexVersion: NODE.codexVersion };
  expect(await database.sessions.claim(claim)).toMatchObject([{ sessionId }]);
});
