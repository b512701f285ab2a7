// Codex repeats its open requests at any time after the daemon has reconnected. In these tests, the time is chosen.
import type { HandlerContext, UserInputRequest } from "codexkit";
import { expect, test } from "vitest";
import { claimOne, NODE, ownedSession, useDatabases } from "./database-fixture.ts";
import type { Database } from "../src/database.ts";
import type { Ownership } from "../src/database/ownership.ts";
import { sessionPolicy } from "../src/policy/test-command.ts";
import { SessionApprovals } from "../src/sessions/session-approvals.ts";

const databases = useDatabases("sqlite");

const request: UserInputRequest = {
  kind: "userInput",
  requestId: 1,
  threadId: "thread",
  turnId: "turn",
  itemId: "item",
  questions: [],
  isBlocking: true,
  params: {
    threadId: "thread",
    turnId: "turn",
    itemId: "item",
    questions: [],
    isBlocking: true,
    autoResolutionMs: null,
  },
};
const context: HandlerContext = {
  signal: new AbortController().signal,
  requestId: 1,
  threadId: "thread",
  turnId: "turn",
};

function approvalsOf({ inbox, parked }: Database, owner: Ownership): SessionApprovals {
  return new SessionApprovals({
    inbox,
    parked,
    owner,
    cwd: "/work",
    approvalMs: Infinity,
    policy: () => ({
      policy: sessionPolicy(
        { permissionMode: "read-only", agentMode: "build", approvalPolicy: "on-request" },
        "/work",
      ),
      mayAsk: true,
    }),
    rolloutBytes: () => undefined,
    rollout: () => Promise.resolve(undefined),
    rootThreadId: () => "thread",
    onChange: () => {},
    onError: (error) => {
      throw error;
    },
  });
}

/** Creates a session with an inbox entry of a killed daemon, which was answered in the meantime, and its next owner. */
async function startNext(): Promise<{ database: Database; owner: Ownership; approvalId: string }> {
  const database = await databases.open();
  const before = await ownedSession(database);
  const first = approvalsOf(database, before);
  first.published(1);
  const killed = new AbortController();
  const asked = Promise.resolve(first.handlers.userInput?.(request, { ...context, signal: killed.signal }));
  asked.catch(() => {});
  await expect.poll(async () => (await first.undelivered()).length).toBe(1);
  const [row] = await first.undelivered();
  const approvalId = row?.id ?? "";
  killed.abort();
  const nodeId = await database.nodes.register(NODE);
  const owner = await claimOne(database, nodeId, before.sessionId);
  await database.inbox.answer(approvalId, { answer: { type: "answers", answers: { q: "yes" } }, by: "ann" });
  return { database, owner, approvalId };
}

test("an answer is kept until Codex repeats the request, and then delivered", async () => {
  const { database, owner, approvalId } = await startNext();
  const approvals = approvalsOf(database, owner);
  let answer: unknown;
  let looks = 0;
  await approvals.closeStale(() => {
    looks += 1;
    if (looks === 3) {
      approvals.published(1);
      answer = approvals.handlers.userInput?.(request, context);
    }
    return Promise.resolve(true);
  });
  expect(await answer).toEqual({ q: "yes" });
  expect(await database.inbox.get(approvalId)).toMatchObject({ state: "answered", note: null });
});

test("an answer is withdrawn if Codex no longer waits for it", async () => {
  const { database, owner, approvalId } = await startNext();
  await approvalsOf(database, owner).closeStale(() => Promise.resolve(false));
  expect(await database.inbox.get(approvalId)).toMatchObject({ state: "withdrawn" });
});
