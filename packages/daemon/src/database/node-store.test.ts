import { expect, test } from "vitest";
import { NODE, ownedSession, useDatabases } from "../../test/database-fixture.ts";

const databases = useDatabases("postgres");

test("a running daemon keeps its name, and the error for another daemon names the holder", async () => {
  const location = await databases.location();
  await using here = await databases.open({ location });
  await using there = await databases.open({ location });
  const lock = await here.nodes.takeName("here");
  const nodeId = await here.nodes.register({ ...NODE, name: "here", url: "http://here.example" });
  const refused = there.nodes.takeName("here", { attempts: 2 });
  await expect(refused).rejects.toMatchObject({
    code: "bad_options",
    message: expect.stringContaining(`node ${nodeId} at http://here.example`),
  });
  expect(await there.nodes.takeName("there")).toBeDefined();
  // A daemon without a lease owns nothing, even if its connection is still open.
  await here.nodes.retire(nodeId);
  expect(await there.nodes.takeName("here")).toBeUndefined();
  await lock?.[Symbol.asyncDispose]();
  await expect.poll(() => there.nodes.takeName("here")).toBeDefined();
});

test("a name that a daemon on another machine lost is free at the end of its lease", async () => {
  const location = await databases.location();
  await using here = await databases.open({ location, leaseMs: 1_500 });
  await using there = await databases.open({ location, leaseMs: 1_500 });
  const nodeId = await here.nodes.register({ ...NODE, name: "here" });
  // The daemon has lost its connection and therefore its lock. Its app-servers may act until its lease expires.
  const waits: string[] = [];
  const onWait = (id: string): void => void waits.push(id);
  await using _lock = await there.nodes.takeName("here", { onWait });
  expect(waits).toEqual([nodeId]);
  const [node] = await there.nodes.list();
  expect(node).toMatchObject({ id: nodeId, isAlive: false });
  expect(await here.nodes.renew(nodeId)).toBeUndefined();
});

test("a name is free immediately if the daemon had the same state folder", async () => {
  await using database = await databases.open({ leaseMs: 3_600_000 });
  const formerId = await database.nodes.register({ ...NODE, name: "here" });
  await using _lock = await database.nodes.takeName("here", { formerId });
  expect(await database.nodes.renew(formerId)).toBeUndefined();
});

test("a name is refused if the daemon that lost it is back before its lease has ended", async () => {
  const location = await databases.location();
  await using here = await databases.open({ location, leaseMs: 500 });
  await using there = await databases.open({ location, leaseMs: 500 });
  const nodeId = await here.nodes.register({ ...NODE, name: "here" });
  const renewals = setInterval(() => void here.nodes.renew(nodeId).catch(() => {}), 50);
  await expect(there.nodes.takeName("here")).rejects.toMatchObject({ code: "bad_options" });
  clearInterval(renewals);
});

test("a node that was shut down stays known while sessions are pinned to it", async () => {
  await using database = await databases.open();
  const owner = await ownedSession(database);
  await database.sessions.release(owner);
  await database.store.db
    .updateTable("session")
    .set({ needs: JSON.stringify(["node:pinned"]) })
    .execute();
  for (const name of ["pinned", "pinned", "free"]) {
    await database.nodes.retire(await database.nodes.register({ ...NODE, name }));
  }
  await database.nodes.register({ ...NODE, name: "other" });
  const known = (await database.nodes.list()).filter(({ isAlive }) => !isAlive);
  // Of the two boots, the newer one.
  expect(known).toMatchObject([{ name: "pinned" }]);
});
