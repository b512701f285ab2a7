import { type Command, DaemonClientError } from "@codexkit/daemon/client";
import { describe, expect, it } from "vitest";
import { approvalOf, commandRequest } from "./approval.fixture.ts";
import { submitAnswer } from "./submit-answer.ts";

const approval = approvalOf(commandRequest);
const answer = { type: "decision", offer: "decline" } as const;
const message = { text: "Use sqlite.", key: "decline-approval-1" };

function problem(
  type: "already_answered" | "turn_not_running" | "internal",
  status: number,
): DaemonClientError {
  return new DaemonClientError(status, { type, title: "", status, detail: `detail of ${type}` }, type);
}

/** A client that records its calls. Commands end as `outcomes` says, in order. */
function createClient(outcomes: readonly (Partial<Command> | Error)[] = [], failure?: Error) {
  const calls: unknown[][] = [];
  return {
    calls,
    answer: async (...args: unknown[]) => {
      calls.push(["answer", ...args]);
      if (failure) throw failure;
      return approval;
    },
    send: async (...args: unknown[]) => {
      calls.push(["send", ...args]);
      const outcome = outcomes[calls.length - 2] ?? { state: "done" };
      if (outcome instanceof Error) throw outcome;
      return outcome as Command;
    },
  };
}

describe("submitAnswer", () => {
  it("adds the message of a refusal to the running turn", async () => {
    const client = createClient();
    expect(await submitAnswer(client, approval, { answer, message })).toMatchObject({
      type: "answered",
      messageProblem: null,
    });
    expect(client.calls).toMatchObject([
      ["answer", "approval-1", answer],
      ["send", "session-1", "Use sqlite.", { mode: "steer", idempotencyKey: "decline-approval-1" }],
    ]);
  });

  it("queues the message with a separate key if the turn has ended in the meantime", async () => {
    const ended = { type: "turn_not_running", title: "", status: 409, detail: "" } as const;
    const client = createClient([{ state: "failed", problem: ended }]);
    expect(await submitAnswer(client, approval, { answer, message })).toMatchObject({ messageProblem: null });
    expect(client.calls[2]).toMatchObject([
      "send",
      "session-1",
      "Use sqlite.",
      { mode: "queue", idempotencyKey: "decline-approval-1-queued" },
    ]);
  });

  it("queues the message for a parked request", async () => {
    const client = createClient();
    await submitAnswer(client, { ...approval, parkedAt: 1 }, { answer, message });
    expect(client.calls.map(([name]) => name)).toEqual(["answer", "send"]);
    expect(client.calls[1]?.[3]).toMatchObject({ mode: "queue" });
  });

  it("reports that the answer arrived and the message did not", async () => {
    const client = createClient([new TypeError("fetch failed")]);
    expect(await submitAnswer(client, approval, { answer, message })).toMatchObject({
      type: "answered",
      messageProblem: "The daemon can't be reached.",
    });
  });

  it("reports that another answer arrived first", async () => {
    const client = createClient([], problem("already_answered", 409));
    expect(await submitAnswer(client, approval, { answer, message })).toEqual({
      type: "lost",
      detail: "detail of already_answered",
    });
    expect(client.calls).toHaveLength(1);
  });

  it.each([
    [problem("internal", 500), "detail of internal"],
    [new TypeError("Failed to fetch"), "The daemon can't be reached."],
  ])("can be repeated after %s", async (failure, detail) => {
    const client = createClient([], failure);
    expect(await submitAnswer(client, approval, { answer, message: null })).toEqual({
      type: "failed",
      detail,
    });
  });
});
