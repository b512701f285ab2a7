// Lines of exported sessions, for tests of the export and the import.
import type { LineOf, SessionFileLine } from "../src/transfer/session-file.ts";
import { SETTINGS } from "./database-fixture.ts";

/** The first line of a file. By default, the session has the thread `thread` and one event. */
export function sessionLine(session: Partial<LineOf<"session">["session"]> = {}): LineOf<"session"> {
  return {
    kind: "session",
    format: 1,
    codexVersion: null,
    session: {
      id: "former",
      threadId: "thread",
      name: null,
      cwd: "/work",
      settings: SETTINGS,
      setup: {},
      goal: null,
      preview: "",
      usage: null,
      archivedAt: null,
      createdAt: 1,
      epoch: 1,
      firstSeq: 1,
      mergedSeq: 0,
      lastSeq: 1,
      ...session,
    },
  };
}

/** A message of the agent. */
export function itemLine(text: string): LineOf<"item"> {
  return {
    kind: "item",
    item: {
      item_id: "item",
      thread_id: "thread",
      turn_id: "turn",
      kind: "agentMessage",
      status: "completed",
      first_seq: 1,
      last_seq: 1,
      completed_seq: 1,
      preview: JSON.stringify({ text }),
      body_length: text.length,
    },
  };
}

/** An accepted command whose answer has not been delivered. */
export function approvalLine(approval: Partial<LineOf<"approval">["approval"]> = {}): LineOf<"approval"> {
  return {
    kind: "approval",
    approval: {
      id: "approval",
      epoch: 1,
      thread_id: "thread",
      turn_id: "turn",
      item_id: "item",
      call_id: "call",
      request_id: "1",
      kind: "command",
      fingerprint: "f",
      request: JSON.stringify({
        kind: "command",
        action: "run",
        command: "true",
        cwd: "/work",
        reason: null,
      }),
      verdict: null,
      offers: "[]",
      state: "answered",
      answer: JSON.stringify({ type: "decision", offer: "accept" }),
      answered_by: "someone",
      answered_by_name: null,
      answered_at: 1,
      note: null,
      created_at: 1,
      updated_at: 1,
      expires_at: null,
      rollout_bytes: 0,
      parked_at: 1,
      submitted_at: null,
      progress: null,
      ...approval,
    },
  };
}

/** The path of a rollout file in the Codex home. */
export function rolloutPath(id: string): string {
  return `sessions/2026/11/16/rollout-2026-11-16T15-25-44-${id}.jsonl`;
}

/** Yields the lines of a file. Calls `before` with the number of each line first. */
export async function* toAsync(
  lines: Iterable<SessionFileLine>,
  before: (count: number) => Promise<void> | void = () => {},
): AsyncGenerator<SessionFileLine> {
  let count = 0;
  for (const line of lines) {
    await before((count += 1));
    yield line;
  }
}
