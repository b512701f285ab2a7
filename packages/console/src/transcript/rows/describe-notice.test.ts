import type { SessionEvent } from "@codexkit/daemon/client";
import { expect, it } from "vitest";
import { describeNotice } from "./describe-notice.ts";

const base = { seq: 9, epoch: 1, at: 0 } as const;

it("names the missing events of a gap", () => {
  expect(describeNotice({ ...base, type: "gap", from: 3, to: 7, reason: "retention" })).toMatchObject({
    tone: "warn",
    title: "Events 3 to 7 are missing.",
  });
});

it("names the program that has the thread open", () => {
  const event = {
    ...base,
    type: "command.finished",
    commandId: "c",
    key: "k",
    kind: "message",
    problem: {
      type: "writer_locked",
      title: "Writer locked",
      status: 409,
      detail: "The thread is open.",
      holder: { pid: 42, command: "codex" },
    },
  } as const satisfies SessionEvent;
  expect(describeNotice(event)).toMatchObject({
    tone: "warn",
    title: "codex (process 42) has this thread open.",
  });
});

it("contains the last lines of a failed codex", () => {
  const event = {
    ...base,
    type: "session.updated",
    changes: {
      problem: {
        type: "codex_failed",
        title: "Codex failed",
        status: 502,
        detail: "exit 101",
        stderr: "panicked",
      },
    },
  } as const satisfies SessionEvent;
  expect(describeNotice(event)).toMatchObject({ tone: "danger", stderr: "panicked", isCrash: true });
});
