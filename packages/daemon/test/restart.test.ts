// The daemon in a separate process, which is killed with SIGKILL while it works.
import { callTool, code, gate, patch, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acceptAgentCommand, escalatingAgent } from "./escalating-agent.ts";
import { type KilledRunnerStage, startStage, startWithApproval, textsOf } from "./killed-runner.ts";
import { processesWith } from "./processes-with.ts";
import type { TestSession } from "./start-runner.ts";
import type { SessionEvent } from "../src/api/event.ts";
import { openDatabase } from "../src/database.ts";

/** Kills a daemon once a command of its session needs an approval, and takes the session over. */
async function takeOverWithApproval(stage: KilledRunnerStage): Promise<TestSession> {
  const daemon = await stage.boot({ permissionMode: "read-only" }, ["go"]);
  await daemon.until("inbox.opened");
  await daemon.kill();
  const { session } = await stage.takeOver(daemon.sessionId);
  await session.event(({ type }) => type === "session.moved");
  return session;
}

test("a turn continues after its daemon was killed, and the journal has no gap", async () => {
  const seen = gate();
  const open = gate();
  const model: ScriptFunction = ({ lastUserText }) => {
    if (lastUserText !== "hold") return say(`received: ${lastUserText}`);
    return [say("before"), say(["half ", waitFor(seen), "more ", waitFor(open), "done"])];
  };
  await using stage = await startStage(model);
  const daemon = await stage.boot({}, ["hold", "next"]);
  await daemon.until("item.delta");
  await daemon.until("item.delta");
  await daemon.kill();
  seen.open();
  const { session, runner } = await stage.takeOver(daemon.sessionId);
  await session.event(({ type }) => type === "session.moved");
  expect(runner.status.appServers).toMatchObject([{ attached: true }]);
  open.open();
  const isLast = (event: SessionEvent): boolean =>
    event.type === "item.completed" &&
    event.item.type === "agentMessage" &&
    event.item.text === "received: next";
  await session.event(isLast);
  const events = await session.events();
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(textsOf(events, "userMessage")).toEqual(["hold", "next"]);
  expect(textsOf(events, "agentMessage")).toEqual(["before", "half more done", "received: next"]);
  const epochs = events.map(({ epoch }) => epoch);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
});

test("a turn that ended while no daemon was running is read from the history", async () => {
  const open = gate();
  await using stage = await startStage([say(["half ", waitFor(open), "done"])]);
  const daemon = await stage.boot({}, ["go"]);
  await daemon.until("item.delta");
  await daemon.kill();
  open.open();
  const { session } = await stage.takeOver(daemon.sessionId);
  expect(await session.ended()).toMatchObject({ type: "turn.completed" });
  const events = await session.events();
  expect(textsOf(events, "agentMessage")).toEqual(["half done"]);
  expect(events.filter(({ type }) => type === "turn.completed")).toHaveLength(1);
  expect(await session.row()).toMatchObject({ phase: "idle" });
});

test("a repeated approval request keeps its inbox entry, and its answer is delivered", async () => {
  await using started = await startWithApproval();
  const { stage, sessionId } = started;
  const { database, session } = await stage.takeOver(sessionId);
  await session.event(({ type }) => type === "session.moved");
  const [approval] = await session.approval();
  await session.answer(approval, { type: "decision", offer: "accept" });
  await started.expectRun(session);
  const { rows } = await database.inbox.list({ sessionId: session.id });
  expect(rows.map(({ state }) => state)).toEqual(["delivered"]);
});

const server = join(import.meta.dirname, "../../sdk/test/mcp-server.ts");
const mcpServers = {
  till: { command: process.execPath, args: ["--conditions=codexkit:source", server] },
};
const pay: ScriptFunction = ({ newOutputs }) =>
  newOutputs.length === 0
    ? callTool("pay", { amount: 3 }, { namespace: "mcp__till", callId: "call" })
    : say(newOutputs.map(({ text }) => text).join());
const payByScript: ScriptFunction = ({ newOutputs }) =>
  newOutputs.length === 0
    ? code(`text(await tools.mcp__till__pay({amount: 3}))`, { callId: "call" })
    : say(newOutputs.map(({ text }) => text).join());

test.each([
  { was: "stored", caller: "the model", model: pay },
  { was: "not stored", caller: "the model", model: pay },
  { was: "not stored", caller: "a script", model: payByScript },
])(
  "a repeated approval request for an MCP tool that $caller calls is recognised, if its entry was $was",
  async ({ was, model }) => {
    await using stage = await startStage(model);
    const session = { mcpServers, ...(model === payByScript && { model: "gpt-6.1-sol" }) };
    const isStored = was === "stored";
    const daemon = await stage.boot(session, ["go"], isStored ? undefined : "inbox");
    await daemon.until(isStored ? "inbox.opened" : "stalled");
    await daemon.kill();
    const next = await stage.takeOver(daemon.sessionId);
    const isAskedAgain = ({ type, epoch }: SessionEvent): boolean =>
      type === "question.requested" && epoch > 1;
    await next.session.event(isAskedAgain);
    const [approval] = await next.session.approval();
    expect(approval).toMatchObject({ kind: "mcpTool", state: "open" });
    expect(JSON.parse(approval?.request ?? "")).toMatchObject({ tool: "pay", arguments: { amount: 3 } });
    expect(JSON.parse(approval?.verdict ?? "")).toMatchObject({ decision: "ask" });
    await next.session.answer(approval, { type: "decision", offer: "accept" });
    expect(await next.session.ended()).toMatchObject({
      result: { finalResponse: expect.stringMatching(/paid\W+3/) as string },
    });
    const { rows } = await next.database.inbox.list({ sessionId: next.session.id });
    expect(rows.map(({ state }) => state)).toEqual(["delivered"]);
  },
);

test("a repeated approval request for a patch keeps its inbox entry, with its diff", async () => {
  const text = "*** Begin Patch\n*** Add File: made\n+one\n*** End Patch";
  await using stage = await startStage((request) =>
    request.outputs.length > 0 ? say("finished") : patch(text, { callId: "a" }),
  );
  const session = await takeOverWithApproval(stage);
  const [approval] = await session.approval();
  expect(JSON.parse(approval?.request ?? "")).toMatchObject({ changes: [{ kind: "add", diff: "one\n" }] });
  await session.answer(approval, { type: "decision", offer: "accept" });
  await session.event(({ type }) => type === "turn.completed");
  expect(existsSync(join(stage.workspace, "made"))).toBe(true);
  const types = (await session.events()).map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("inbox."))).toEqual(["inbox.opened", "inbox.answered"]);
});

test("a repeated approval request of an agent keeps its inbox entry, and the agent's events continue", async () => {
  await using stage = await startStage(escalatingAgent);
  const session = await takeOverWithApproval(stage);
  await acceptAgentCommand(session, stage.workspace);
  expect(textsOf(await session.events(), "agentMessage")).toEqual(["part done", "all done"]);
});

test("an answer that was submitted while no daemon was running is delivered", async () => {
  await using started = await startWithApproval();
  const { stage, sessionId } = started;
  {
    await using database = await openDatabase(stage.store);
    const [approval] = (await database.inbox.list({ state: "open" })).rows;
    const answer = { type: "decision", offer: "accept" };
    await database.inbox.answer(approval?.id ?? "", { answer, by: "test" });
  }
  const { session } = await stage.takeOver(sessionId);
  await started.expectRun(session);
});

test("a session continues after the daemon and its codex were killed", async () => {
  const model: ScriptFunction = ({ lastUserText }) =>
    lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say(`received: ${lastUserText}`);
  await using stage = await startStage(model);
  const daemon = await stage.boot({}, ["hold", "next"]);
  await daemon.until("item.delta");
  await daemon.kill();
  {
    await using database = await openDatabase(stage.store);
    for (const { pid } of await database.appServers.list("local"))
      if (pid !== null) process.kill(pid, "SIGKILL");
  }
  const { session } = await stage.takeOver(daemon.sessionId);
  await session.event(({ type }) => type === "turn.completed");
  const events = await session.events();
  expect(textsOf(events, "userMessage")).toEqual(["hold", "next"]);
  expect(events.filter(({ type }) => type === "turn.failed")).toHaveLength(1);
});

test("a codex whose address was not stored ends with its daemon", async () => {
  await using stage = await startStage(({ lastUserText }) => say(`received: ${lastUserText}`));
  const daemon = await stage.boot({}, ["go"], "appServers");
  await daemon.until("stalled");
  const ofStage = (): Promise<number[]> => processesWith(`CODEX_HOME=${stage.codexHome}`);
  expect(await ofStage()).not.toEqual([]);
  await daemon.kill();
  await expect.poll(ofStage, { timeout: 15_000 }).toEqual([]);
  const { session, runner } = await stage.takeOver(daemon.sessionId);
  await session.event(({ type }) => type === "turn.completed");
  expect(textsOf(await session.events(), "agentMessage")).toEqual(["received: go"]);
  expect(runner.status.appServers).toMatchObject([{ attached: false }]);
});

test.each(["turn.started", "command.started", "command.finished"] as const)(
  "a message is sent exactly once if the daemon is killed after %s",
  async (type) => {
    await using stage = await startStage(({ lastUserText }) => say(`received: ${lastUserText}`));
    const daemon = await stage.boot({}, ["once"]);
    await daemon.until(type);
    await daemon.kill();
    const { session } = await stage.takeOver(daemon.sessionId);
    await session.ended();
    const events = await session.events();
    expect(textsOf(events, "userMessage")).toEqual(["once"]);
    expect(textsOf(events, "agentMessage")).toEqual(["received: once"]);
  },
);

test("SIGTERM ends the daemon and its codex", async () => {
  await using stage = await startStage([say(["half ", waitFor(gate())])]);
  const daemon = await stage.boot({}, ["go"]);
  await daemon.until("item.delta");
  const exited = once(daemon.child, "exit");
  daemon.child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
  await using database = await openDatabase(stage.store);
  expect(await database.appServers.list("local")).toEqual([]);
});

test.each([
  // The command that creates the session has no `command.started` event.
  ["command.started", 2],
  ["command.finished", 3],
] as const)(
  "a steering message is sent once, or reported as not sent, if the daemon is killed after its %s",
  async (type, count) => {
    const open = gate();
    const model: ScriptFunction = ({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(open), "done"]) : say(`received: ${lastUserText}`);
    await using stage = await startStage(model);
    const daemon = await stage.boot({}, ["hold", { input: "also this", mode: "steer" }]);
    for (let seen = 0; seen < count; seen += 1) await daemon.until(type);
    await daemon.kill();
    const { session } = await stage.takeOver(daemon.sessionId);
    await session.event(({ type: moved }) => moved === "session.moved");
    open.open();
    await session.ended();
    const accepted = (await session.events()).flatMap((event) =>
      event.type === "command.accepted" ? [event.commandId] : [],
    );
    const { ok } = await session.result(accepted.at(-1) ?? "");
    // If the daemon is killed between the start and the call to codex, the message is not sent again: it might be waiting in the
    // turn.
    expect(ok || type === "command.started").toBe(true);
    expect(textsOf(await session.events(), "userMessage")).toEqual(ok ? ["hold", "also this"] : ["hold"]);
  },
);
