import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import { delta, ownedSession, useDatabases } from "../../test/database-fixture.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { ItemRow } from "../database/tables.ts";
import { longestText, textAt } from "../api/item-text.ts";
import { cutMiddle, previewItem } from "./item-preview.ts";
import { diffStat } from "./projection.ts";

const TURN = { threadId: "thread", turnId: "turn" } as const;

function command(id: string, output: string | null, status = "completed") {
  return {
    type: "commandExecution",
    id,
    command: "make",
    cwd: "/work",
    status,
    aggregatedOutput: output,
    commandActions: [],
  } as never;
}

function userMessage(id: string, text: string) {
  return {
    type: "userMessage",
    id,
    clientId: null,
    content: [{ type: "text", text, text_elements: [] }],
  } as never;
}

function started(item: never, more = {}): NewSessionEvent {
  return { type: "item.started", ...TURN, item, ...more };
}

function completed(item: never, more = {}): NewSessionEvent {
  return { type: "item.completed", ...TURN, item, ...more };
}

const usage = (totalTokens: number) => ({
  totalTokens,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
});

describe.each(STORE_KINDS)("the history on %s", (kind) => {
  const databases = useDatabases(kind);

  it("has one row per item, newest first, with its newest state", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    await database.journal.append(owner, [
      { type: "turn.started", ...TURN },
      completed(userMessage("u", "  Fix it\nplease")),
      started(command("c1", null, "inProgress")),
    ]);
    await database.journal.append(owner, [
      completed(command("c1", "ok")),
      started(command("c2", null, "inProgress")),
      completed(command("c2", "error", "failed")),
      started(command("c3", null, "inProgress")),
    ]);
    const items = await database.journal.items(sessionId);
    expect(items.map(({ item_id: id, status }) => [id, status])).toEqual([
      ["c3", "running"],
      ["c2", "failed"],
      ["c1", "completed"],
      ["u", "completed"],
    ]);
    expect(JSON.parse(items[2]?.preview ?? "")).toMatchObject({ aggregatedOutput: "ok" });
    const page = await database.journal.items(sessionId, { limit: 2 });
    const older = await database.journal.items(sessionId, { before: page.at(-1)?.first_seq ?? 0 });
    expect([...page, ...older]).toEqual(items);
    expect(await database.journal.items(sessionId, { turnId: "other" })).toEqual([]);
    expect(await database.journal.items(sessionId, { threadId: "thread" })).toHaveLength(4);
    expect(await database.journal.runningItems(sessionId)).toMatchObject([{ item_id: "c3" }]);
    await database.journal.append(owner, [{ type: "item.abandoned", itemId: "c3", turnId: "turn" }]);
    await database.journal.append(owner, [{ type: "item.abandoned", itemId: "c2", turnId: "turn" }]);
    expect(await database.journal.item(sessionId, "c3")).toMatchObject({ status: "abandoned" });
    expect(await database.journal.item(sessionId, "c2")).toMatchObject({ status: "failed" });
    expect(await database.journal.item(sessionId, "missing")).toBeUndefined();
  });

  it("caps long texts in previews and serves them by range", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const output = Array.from({ length: 5_000 }, (_, line) => `line ${line}\n`).join("");
    await database.journal.append(owner, [completed(command("c", output))]);
    const item = (await database.journal.item(owner.sessionId, "c")) as ItemRow;
    const preview = JSON.parse(item.preview) as { aggregatedOutput: string; truncated: object };
    expect(item.preview.length).toBeLessThan(10_000);
    expect(preview.aggregatedOutput).toMatch(/^line 0\n/);
    expect(preview.aggregatedOutput).toMatch(/line 4999\n$/);
    expect(preview.truncated).toEqual({ "/aggregatedOutput": output.length });
    expect(item.body_length).toBe(output.length);
    const body = (offset: number, limit: number, path?: string) =>
      database.journal.itemBody(owner.sessionId, "c", { offset, limit, ...(path !== undefined && { path }) });
    expect(await body(0, 10)).toEqual({ text: output.slice(0, 10), offset: 0, length: output.length });
    expect(await body(40_000, 100_000)).toMatchObject({ text: output.slice(40_000) });
    expect(await body(0, 10, "/command")).toMatchObject({ text: "make", length: 4 });
    expect(await body(0, 10, "/missing")).toBeUndefined();
    expect(await database.journal.itemBody(owner.sessionId, "missing")).toBeUndefined();
  });

  it("has the text so far of a running item", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await database.journal.append(owner, [started(command("item", null, "inProgress"))]);
    const lines = Array.from({ length: 6_000 }, (_, line) => `line ${line}\n`);
    let offset = 0;
    await database.journal.append(
      owner,
      lines.map((line) => {
        const event = delta(line, offset, { kind: "command_output" });
        offset += line.length;
        return event;
      }),
    );
    const item = (await database.journal.item(owner.sessionId, "item")) as ItemRow;
    const { streamed } = JSON.parse(item.preview) as { streamed: { text: string; length: number } };
    expect(streamed).toMatchObject({ kind: "command_output", length: offset });
    expect(streamed.text).toMatch(/^line 0\n/);
    expect(streamed.text).toMatch(/line 5999\n$/);
    expect(item.body_length).toBe(offset);
    const body = await database.journal.itemBody(owner.sessionId, "item", { limit: 1_000_000 });
    expect(body?.text).toBe(lines.join(""));
  });

  it("keeps items with the same ID of other turns and of agents apart", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await database.journal.append(owner, [
      completed(command("call_1", "first")),
      completed(command("call_1", "second"), { turnId: "turn 2" }),
      completed(command("call_1", "agent"), { threadId: "agent" }),
    ]);
    const items = await database.journal.items(owner.sessionId);
    expect(
      items.map(({ preview }) => (JSON.parse(preview) as { aggregatedOutput: string }).aggregatedOutput),
    ).toEqual(["agent", "second", "first"]);
  });

  it("outlines turns, and describes the session by its own thread only", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const agent = { threadId: "agent", turnId: "agent turn" };
    await database.journal.append(owner, [
      { type: "turn.started", ...TURN },
      completed(userMessage("u", "\nMake it fast\nand small")),
      { type: "usage.updated", ...TURN, usage: usage(5), total: usage(50), contextWindow: null },
      {
        type: "diff.updated",
        ...TURN,
        diff: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n",
      },
      { type: "turn.started", ...agent },
      completed(userMessage("u", "for the agent"), agent),
      { type: "usage.updated", ...agent, usage: usage(7), total: usage(7), contextWindow: null },
    ]);
    const session = await database.sessions.require(sessionId);
    expect(session).toMatchObject({ preview: "Make it fast", active_turn_id: "turn", phase: "running" });
    expect(JSON.parse(session.usage ?? "")).toMatchObject({ totalTokens: 50 });
    await database.journal.append(owner, [{ type: "turn.completed", ...TURN, result: {} as never }]);
    const { rows } = await database.journal.turns(sessionId);
    expect(rows).toMatchObject([
      { turn_id: "agent turn", status: "running", title: "for the agent", ended_at: null },
      { turn_id: "turn", status: "completed", title: "Make it fast", ended_at: expect.any(Number) },
    ]);
    expect(JSON.parse(rows[1]?.diff_stat ?? "")).toEqual({ files: 1, added: 2, removed: 1 });
    expect(JSON.parse(rows[1]?.usage ?? "")).toMatchObject({ totalTokens: 5 });
    const page = await database.journal.turns(sessionId, { limit: 1 });
    expect(page.nextCursor).toBeDefined();
    const rest = await database.journal.turns(sessionId, { limit: 1, before: Number(page.nextCursor) });
    expect(rest).toMatchObject({ rows: [{ turn_id: "turn" }] });
    expect(rest.nextCursor).toBeUndefined();
    expect(await database.journal.latest(sessionId, "diff.updated")).toMatchObject({ turnId: "turn" });
    expect(await database.journal.latest(sessionId, "diff.updated", "turn")).toMatchObject({
      turnId: "turn",
    });
    expect(await database.journal.latest(sessionId, "diff.updated", "other")).toBeUndefined();
    expect(await database.journal.latest(sessionId, "plan.updated")).toBeUndefined();
  });

  it("names a turn after its first message", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await database.journal.append(owner, [
      { type: "turn.started", ...TURN },
      completed(userMessage("u1", "first")),
      completed(userMessage("u2", "added in the same transaction")),
    ]);
    await database.journal.append(owner, [completed(userMessage("u3", "added later"))]);
    expect((await database.journal.turns(owner.sessionId)).rows).toMatchObject([{ title: "first" }]);
  });

  it("ends before a turn that was reverted", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const turn = (turnId: string): NewSessionEvent[] => [
      { type: "turn.started", threadId: "thread", turnId },
      completed(command(`of ${turnId}`, ""), { turnId }),
      { type: "diff.updated", threadId: "thread", turnId, diff: `diff of ${turnId}` },
      { type: "turn.completed", threadId: "thread", turnId, result: {} as never },
    ];
    await database.journal.append(owner, [...turn("1"), ...turn("2"), ...turn("3")]);
    await database.journal.append(owner, [
      { type: "session.updated", changes: { revertedBefore: "2" } },
      ...turn("4"),
    ]);
    const turns = async () => (await database.journal.turns(sessionId)).rows.map((row) => row.turn_id);
    expect(await turns()).toEqual(["4", "1"]);
    const items = await database.journal.items(sessionId);
    expect(items.map((row) => row.item_id)).toEqual(["of 4", "of 1"]);
    await database.journal.append(owner, [{ type: "session.updated", changes: { revertedBefore: "4" } }]);
    expect(await database.journal.latest(sessionId, "diff.updated")).toMatchObject({ turnId: "1" });
  });
});

describe("previews", () => {
  it("cut texts without half characters and keep a budget for all texts together", () => {
    expect(cutMiddle("🦀".repeat(10_000)).isWellFormed()).toBe(true);
    const preview = previewItem({
      changes: Array.from({ length: 600 }, () => ({ diff: "x".repeat(6_000) })),
    });
    expect(JSON.stringify(preview).length).toBeLessThan(300_000);
    expect(preview["truncated"]).toMatchObject({ "/changes": 600 });
  });

  it("name cut texts by a pointer that finds them", () => {
    const item = { "a/b": { "c~d": ["", "x".repeat(10_000)] } };
    const [pointer = ""] = Object.keys(previewItem(item)["truncated"] as object);
    expect(textAt(item, pointer)).toBe("x".repeat(10_000));
    expect(textAt(item, "/a~1b/toString")).toBeUndefined();
    expect(longestText(item)).toHaveLength(10_000);
  });

  it("count the lines of a diff", () => {
    expect(diffStat("")).toEqual({ files: 0, added: 0, removed: 0 });
  });
});
