import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import {
  allEvents,
  claimOne,
  NODE,
  ownedSession,
  useDatabases,
  warning,
} from "../../test/database-fixture.ts";
import type { StoredTurnResult } from "../api/event.ts";
import type { Database } from "../database.ts";
import type { NewApproval } from "./new-approval.ts";

function approval(more: Partial<NewApproval> = {}): NewApproval {
  return {
    threadId: "thread",
    turnId: "turn",
    requestId: 7,
    kind: "command",
    fingerprint: "rm",
    request: { command: "rm -rf build" },
    offers: [{ decision: "accept" }, { decision: "decline" }],
    ...more,
  };
}

const TURN = { threadId: "thread", turnId: "turn" };

/** Starts a turn with an approval, and answers it. */
async function answeredApproval(database: Database) {
  const owner = await ownedSession(database);
  await database.journal.append(owner, [{ type: "turn.started", ...TURN }]);
  const { approval: row } = await database.inbox.open(owner, approval());
  await database.inbox.answer(row.id, { answer: { decision: "accept" }, by: "ann" });
  return { owner, row };
}

describe.each(STORE_KINDS)("the inbox on %s", (kind) => {
  const databases = useDatabases(kind);

  it("opens an approval, takes the first answer, and records its delivery", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    await database.journal.append(owner, [{ type: "turn.started", threadId: "thread", turnId: "turn" }]);
    const { approval: row, isNew } = await database.inbox.open(owner, approval(), {
      events: [warning("before")],
    });
    expect(isNew).toBe(true);
    expect(row).toMatchObject({ state: "open", request_id: "7", session_id: sessionId, epoch: owner.epoch });
    expect(await database.sessions.require(sessionId)).toMatchObject({ phase: "waiting" });
    const waiting = database.inbox.waitForAnswer(row.id);
    const answered = await database.inbox.answer(row.id, { answer: { decision: "accept" }, by: "ann" });
    expect(answered).toMatchObject({ state: "answered", answered_by: "ann" });
    expect(await waiting).toEqual(answered);
    await database.inbox.delivered(owner, row.id, "answered in the running turn");
    expect(await database.inbox.get(row.id)).toMatchObject({ state: "delivered" });
    expect(await database.sessions.require(sessionId)).toMatchObject({ phase: "running" });
    expect((await allEvents(database, sessionId)).slice(-3)).toMatchObject([
      { message: "before" },
      { type: "inbox.opened", approvalId: row.id },
      { type: "inbox.answered", approvalId: row.id, by: "ann" },
    ]);
    const { rows: audit } = await database.audit.list({ sessionId });
    expect(audit).toMatchObject([{ by: "ann", action: "approval.answered", subject: row.id }]);
  });

  it("keeps a session claimable whose answer came before its request was parked", async () => {
    await using database = await databases.open();
    const { owner, row } = await answeredApproval(database);
    const { sessionId } = owner;
    // The process has ended, so the turn ends before its request is parked.
    await database.sessions.update(owner, { activeTurnId: null });
    await database.parked.park(owner, { note: "parked", approvals: [{ id: row.id, progress: {} }] });
    await database.sessions.release(owner);
    expect(await claimOne(database, owner.nodeId, sessionId)).toMatchObject({ sessionId, reason: "ready" });
  });

  it("keeps a session claimable whose turn continued after the answer", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const { approval: row } = await database.inbox.open(owner, approval());
    await database.parked.park(owner, { note: "parked", approvals: [{ id: row.id, progress: {} }] });
    await database.inbox.answer(row.id, { answer: { decision: "accept" }, by: "ann" });
    const waiting = await database.parked.list(sessionId);
    // The end of a turn and a resumed delivery may find it open at the same time.
    await Promise.all([1, 2].map(() => database.parked.finish(owner, waiting, "delivered")));
    await database.parked.finish(owner, waiting, "delivered again");
    const delivered = (await allEvents(database, sessionId)).filter(({ type }) => type === "inbox.delivered");
    expect(delivered).toMatchObject([{ note: "delivered" }]);
    expect(await database.sessions.require(sessionId)).toMatchObject({ ready_at: null });
    // Codex reports the turn after its response to `turn/start`.
    await database.journal.append(owner, [{ type: "turn.started", threadId: "thread", turnId: "next" }]);
    await database.sessions.release(owner);
    expect(await claimOne(database, owner.nodeId, sessionId)).toMatchObject({ sessionId, reason: "ready" });
  });

  it("keeps a session claimable whose turn has ended before its open request was parked", async () => {
    await using database = await databases.open();
    const { owner, row } = await answeredApproval(database);
    const { sessionId } = owner;
    const result = { ...TURN, status: "interrupted", finalResponse: "" } as StoredTurnResult;
    await database.journal.write({
      owner,
      events: [{ type: "turn.interrupted", ...TURN, result }],
      changes: { phase: "parked" },
    });
    expect(await database.sessions.require(sessionId)).toMatchObject({
      phase: "parked",
      ready_at: expect.any(Number) as number,
    });
    await database.parked.park(owner, { note: "parked", approvals: [{ id: row.id, progress: {} }] });
    await database.parked.finish(owner, await database.parked.list(sessionId), "delivered");
    expect(await database.sessions.require(sessionId)).toMatchObject({ phase: "idle", ready_at: null });
  });

  it("reports a withdrawal once, even if two writes find the approval open", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { approval: row } = await database.inbox.open(owner, approval());
    await Promise.all([1, 2].map(() => database.inbox.withdraw(owner, row.id, "not needed")));
    const types = (await allEvents(database, owner.sessionId)).map(({ type }) => type);
    expect(types.filter((type) => type === "inbox.withdrawn")).toHaveLength(1);
    expect(await database.inbox.get(row.id)).toMatchObject({ state: "withdrawn", note: "not needed" });
  });

  it("lets the first of many concurrent answers win, and names the winner to the others", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { approval: row } = await database.inbox.open(owner, approval());
    const people = ["ann", "bob", "cy", "dee"];
    const results = await Promise.allSettled(
      people.map((by) => database.inbox.answer(row.id, { answer: { decision: by }, by })),
    );
    const winners = people.filter((_, index) => results[index]?.status === "fulfilled");
    expect(winners).toHaveLength(1);
    const [winner] = winners as [string];
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      expect(result.reason).toMatchObject({
        code: "already_answered",
        details: { winner: { by: winner, state: "answered", answer: { decision: winner } } },
      });
    }
    const again = await database.inbox.answer(row.id, { answer: { decision: winner }, by: winner });
    expect(again.answered_by).toBe(winner);
    const answers = (await allEvents(database, owner.sessionId)).filter(
      ({ type }) => type === "inbox.answered",
    );
    expect(answers).toHaveLength(1);
  });

  it("includes an answer to a secret question neither in later responses nor in the audit log", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const question = { header: "Key", question: "Which key?", isOther: true, options: null };
    const questions = [
      { ...question, id: "key", isSecret: true },
      { ...question, id: "name", isSecret: false },
    ];
    const request = { kind: "userInput", questions, isBlocking: true };
    const { approval: row } = await database.inbox.open(owner, approval({ kind: "userInput", request }));
    const answer = { type: "answers", answers: { key: "planted-key", name: "main" } };
    const shown = { type: "answers", answers: { key: "[secret]", name: "main" } };
    expect(await database.inbox.answer(row.id, { answer, by: "ann" })).toMatchObject({
      answer: JSON.stringify(answer),
    });
    const other = { type: "answers", answers: { key: "guess", name: "main" } };
    await expect(database.inbox.answer(row.id, { answer: other, by: "bob" })).rejects.toMatchObject({
      code: "already_answered",
      details: { winner: { by: "ann", answer: shown } },
    });
    const { rows } = await database.audit.list({ sessionId: owner.sessionId });
    expect(rows.map(({ detail }) => JSON.parse(detail) as unknown)).toEqual([
      { kind: "userInput", answer: shown },
    ]);
  });

  it("recognises a request that is sent again, and keeps an answer that was not delivered", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { approval: first } = await database.inbox.open(owner, approval());
    await database.inbox.answer(first.id, { answer: "accept", by: "ann" });
    const next = await claimOne(database, await database.nodes.register(NODE), owner.sessionId);
    const { approval: again, isNew } = await database.inbox.open(next, approval({ requestId: "r-1" }));
    expect(isNew).toBe(false);
    expect(again).toMatchObject({ id: first.id, state: "answered", request_id: '"r-1"', epoch: next.epoch });
    await database.inbox.delivered(next, first.id);
    const { isNew: isAnother } = await database.inbox.open(next, approval({ requestId: 9 }));
    expect(isAnother).toBe(true);
  });

  it("withdraws, parks and expires", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const open = async (fingerprint: string, more = {}) =>
      (await database.inbox.open(owner, approval({ fingerprint, ...more }))).approval;
    const withdrawn = await open("1");
    await database.inbox.withdraw(owner, withdrawn.id, "the turn ended");
    await database.inbox.withdraw(owner, withdrawn.id, "again");
    expect(await database.inbox.get(withdrawn.id)).toMatchObject({
      state: "withdrawn",
      note: "the turn ended",
    });
    await expect(database.inbox.answer(withdrawn.id, { answer: "accept", by: "ann" })).rejects.toMatchObject({
      code: "already_answered",
      details: { winner: { state: "withdrawn", by: null } },
    });

    const parked = await open("2");
    await database.parked.park(owner, {
      note: "the daemon is draining",
      approvals: [{ id: parked.id, progress: { reason: "drain" } }],
    });
    expect(await database.sessions.require(owner.sessionId)).toMatchObject({ phase: "parked" });
    await database.sessions.release(owner);
    expect(await database.inbox.answer(parked.id, { answer: "accept", by: "ann" })).toMatchObject({
      state: "answered",
    });
    const next = await claimOne(database, owner.nodeId, owner.sessionId);
    const rows = await database.parked.list(owner.sessionId);
    expect(rows).toMatchObject([{ id: parked.id, progress: { reason: "drain" } }]);
    expect(await database.parked.count()).toBe(1);
    await database.parked.finish(next, rows, "told");
    expect(await database.parked.list(owner.sessionId)).toEqual([]);
    expect(await database.parked.count()).toBe(0);

    const late = (await database.inbox.open(next, approval({ fingerprint: "3", expiresInMs: -1 }))).approval;
    await expect(database.inbox.answer(late.id, { answer: "accept", by: "ann" })).rejects.toMatchObject({
      code: "already_answered",
    });
    expect(await database.inbox.expire(next)).toMatchObject([{ id: late.id, state: "expired" }]);
    expect(await database.inbox.expire(next)).toEqual([]);
    expect((await allEvents(database, owner.sessionId)).at(-1)).toMatchObject({ type: "inbox.expired" });
  });

  it("waits for all approvals of a session before it continues", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const ids = await Promise.all(
      ["1", "2"].map(
        async (fingerprint) => (await database.inbox.open(owner, approval({ fingerprint }))).approval.id,
      ),
    );
    const phase = async () => (await database.sessions.require(owner.sessionId)).phase;
    for (const [index, id] of ids.entries()) {
      expect(await phase()).toBe("waiting");
      await database.inbox.answer(id, { answer: "accept", by: "ann" });
      await database.inbox.delivered(owner, id);
      expect(await phase()).toBe(index === 0 ? "waiting" : "idle");
    }
  });

  it("lists approvals of all sessions in pages, and those that have changed", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const other = await ownedSession(database, { name: "other" });
    for (const fingerprint of ["1", "2", "3"]) await database.inbox.open(owner, approval({ fingerprint }));
    const { approval: last } = await database.inbox.open(other, approval());
    const page = await database.inbox.list({ state: "open", limit: 3 });
    expect(page.rows).toHaveLength(3);
    expect(page.rows[0]?.id).toBe(last.id);
    const rest = await database.inbox.list({ state: ["open"], limit: 3, cursor: page.nextCursor ?? "" });
    expect(rest.rows).toHaveLength(1);
    expect(rest.nextCursor).toBeUndefined();
    expect((await database.inbox.list({ sessionId: other.sessionId })).rows).toHaveLength(1);
    await database.inbox.answer(last.id, { answer: "accept", by: "ann" });
    const { updated_at: at } = (await database.inbox.get(last.id)) ?? { updated_at: 0 };
    expect((await database.inbox.changedSince(at)).map(({ id }) => id)).toContain(last.id);
    expect(await database.inbox.changedSince(at + 1)).toEqual([]);
    await expect(database.inbox.answer("unknown", { answer: "accept", by: "ann" })).rejects.toMatchObject({
      code: "approval_not_found",
    });
  });
});
