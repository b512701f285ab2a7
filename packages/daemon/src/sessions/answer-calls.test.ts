import { describe, expect, test } from "vitest";
import type { InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { ParkedApproval } from "../inbox/parked-inbox.ts";
import { type AnsweredRequest, toAnswered } from "../parking/choose-strategy.ts";
import type { ModelCall } from "../parking/rollout-lines.ts";
import { answerCalls, type AnswerCallsDeps } from "./answer-calls.ts";
import type { LoadedThread } from "./loaded-thread.ts";

const ACCEPT: InboxAnswer = { type: "decision", offer: "accept" };
const DECLINE: InboxAnswer = { type: "decision", offer: "decline" };

const call = (callId: string): ModelCall => ({
  callId,
  type: "function_call",
  name: "exec_command",
  namespace: undefined,
  input: `{"cmd":"make"}`,
  atByte: 0,
});

function answered(
  { callId, threadId = "root", answer }: { callId: string; threadId?: string; answer: InboxAnswer },
  calls: readonly ModelCall[],
): AnsweredRequest {
  const request: Partial<InboxRequest> = { kind: "command", action: "command", command: `make ${callId}` };
  const row = {
    id: callId,
    thread_id: threadId,
    call_id: callId,
    kind: "command",
    request: JSON.stringify(request),
    answer: JSON.stringify(answer),
    offers: JSON.stringify([{ id: "accept", accepts: true }]),
    progress: { strategy: "report" },
  };
  return toAnswered(row as unknown as ParkedApproval, calls);
}

/** Reports run nothing, so no codex is needed. */
async function textsFor(
  requests: readonly AnsweredRequest[],
  calls: readonly ModelCall[],
): Promise<string[]> {
  const loaded = { thread: { id: "root" } } as unknown as LoadedThread;
  const deps = { session: { database: {} } } as unknown as AnswerCallsDeps;
  const result = await answerCalls(loaded, requests, calls, new AbortController().signal, deps);
  const items = (result?.items ?? []) as {
    call_id?: string;
    output?: string;
    content?: { text: string }[];
  }[];
  return items.map(
    ({ call_id: id, output, content }) => `${id ?? "message"}: ${output ?? content?.[0]?.text}`,
  );
}

describe("an answer without a matching open call", () => {
  test.each([
    ["accepted", ACCEPT],
    ["declined", DECLINE],
  ])("is reported in a message: %s", async (decision, answer) => {
    expect(await textsFor([answered({ callId: "gone", answer }, [])], [])).toEqual([
      expect.stringMatching(
        `^message: A person ${decision} the command make gone\\. .* It was not carried out\\.`,
      ),
    ]);
  });

  test("is reported in addition to the answers of other calls", async () => {
    const calls = [call("a")];
    const requests = [
      answered({ callId: "a", answer: ACCEPT }, calls),
      answered({ callId: "gone", answer: DECLINE }, calls),
    ];
    expect(await textsFor(requests, calls)).toEqual([
      expect.stringContaining("a: A person accepted the command make a."),
      expect.stringContaining("message: A person declined the command make gone."),
    ]);
  });

  test("makes it unknown which request an open call belongs to", async () => {
    const calls = [call("a")];
    expect(await textsFor([answered({ callId: "gone", answer: DECLINE }, calls)], calls)).toEqual([
      expect.stringMatching(/^a: .*If .* message that follows .* this call.* Otherwise/),
      expect.stringContaining("message: A person declined the command make gone."),
    ]);
  });
});

describe("an answer for an agent", () => {
  const agent = { callId: "inner", threadId: "agent", answer: ACCEPT };

  test("is the output of the call that waits for the agent", async () => {
    const calls = [call("wait")];
    expect(await textsFor([answered(agent, calls)], calls)).toEqual([
      expect.stringContaining(
        "wait: The agent agent asked for the command make inner, which a person accepted.",
      ),
    ]);
  });

  test("is reported in a message if every open call has its own request", async () => {
    const calls = [call("a")];
    const requests = [answered({ callId: "a", answer: DECLINE }, calls), answered(agent, calls)];
    expect(await textsFor(requests, calls)).toEqual([
      expect.stringContaining("a: A person declined the command make a."),
      expect.stringContaining("message: The agent agent asked for the command make inner"),
    ]);
  });
});
