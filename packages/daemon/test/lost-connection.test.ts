// The connection to codex is lost, and codex keeps running.
import { gate, run, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { expect, test } from "vitest";
import { startStage, startWithApproval, textsOf } from "./killed-runner.ts";
import { SocketProxy } from "./socket-proxy.ts";
import { openDatabase } from "../src/database.ts";

/** Makes the next daemon connect to the app-server through a proxy, which can break the connection. */
async function proxyAppServer(store: string): Promise<SocketProxy> {
  await using database = await openDatabase(store);
  const [row] = await database.appServers.list("local");
  if (!row) throw new Error("There is no app-server.");
  const proxy = await SocketProxy.start(row.url.replace("unix://", ""));
  await database.appServers.put({ ...row, url: `unix://${proxy.path}` });
  return proxy;
}

test("a turn continues, and its events are read from the history", async () => {
  const open = gate();
  const end = gate();
  const model: ScriptFunction = ({ lastUserText, newOutputs }) => {
    if (lastUserText !== "hold") return say(`received: ${lastUserText}`);
    if (newOutputs.length > 0) return say(["more ", waitFor(end), "and more"]);
    return [say(["half ", waitFor(open), "done"]), run("true")];
  };
  await using stage = await startStage(model);
  const daemon = await stage.boot({}, ["hold", "next"]);
  await daemon.until("item.delta");
  await daemon.kill();
  const proxy = stage.use(await proxyAppServer(stage.store));
  const { session, runner } = await stage.takeOver(daemon.sessionId);
  await session.event(({ type }) => type === "session.moved");
  const [server] = runner.status.appServers;
  proxy.hold();
  await expect.poll(() => proxy.held, { timeout: 10_000 }).toBe(1);
  // Codex is not ended after a failed attempt to reconnect.
  proxy.drop();
  await expect.poll(() => proxy.held, { timeout: 10_000 }).toBe(1);
  // Codex continues while the daemon has no connection.
  open.open();
  await stage.model.waitForRequests(2);
  proxy.release();
  await expect
    .poll(() => runner.status.appServers, { timeout: 10_000 })
    .toMatchObject([{ pid: server?.pid }]);
  end.open();
  await session.event((event) => textsOf([event], "agentMessage")[0] === "received: next");
  const events = await session.events();
  expect(textsOf(events, "userMessage")).toEqual(["hold", "next"]);
  expect(textsOf(events, "agentMessage")).toEqual(["half done", "more and more", "received: next"]);
  expect(events.map(({ type }) => type)).not.toContain("turn.failed");
  expect(runner.status.appServerRestarts).toBe(0);
});

test("an open approval stays open, and its answer is delivered", async () => {
  await using started = await startWithApproval();
  const { stage, sessionId } = started;
  const proxy = stage.use(await proxyAppServer(stage.store));
  const { session, database } = await stage.takeOver(sessionId);
  await session.event(({ type }) => type === "session.moved");
  const [approval] = await session.approval();
  proxy.cut();
  await session.answer(approval, { type: "decision", offer: "accept" });
  await started.expectRun(session);
  const { rows } = await database.inbox.list({ sessionId: session.id });
  expect(rows.map(({ state }) => state)).toEqual(["delivered"]);
});

test("a codex that was idle when its connection was lost ends with the daemon", async () => {
  const open = gate();
  await using stage = await startStage([say(["half ", waitFor(open), "done"])]);
  const daemon = await stage.boot({}, ["go"]);
  await daemon.until("item.delta");
  await daemon.kill();
  const proxy = stage.use(await proxyAppServer(stage.store));
  const { session, runner, database } = await stage.takeOver(daemon.sessionId);
  await session.event(({ type }) => type === "session.moved");
  const pid = runner.status.appServers[0]?.pid ?? 0;
  open.open();
  await session.ended();
  await expect.poll(() => runner.status.runningTurns).toBe(0);
  proxy.cut();
  await expect.poll(() => runner.status.appServers).toEqual([]);
  await runner.close();
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(await database.appServers.list("local")).toEqual([]);
});
