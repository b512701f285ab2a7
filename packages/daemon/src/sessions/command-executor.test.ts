import type { Thread } from "codexkit";
import { expect, test } from "vitest";
import type { PendingCommand } from "../commands/command-store.ts";
import { type CommandContext, executeCommand } from "./command-executor.ts";

/** A session whose turn was cut off. It has not reacted to that yet. */
function cutOffSession() {
  const begun: string[] = [];
  const thread = { busy: false } as Thread;
  const context = {
    state: { interruptedTurnId: "cut", settings: {} },
    load: async () => ({ thread }),
    loaded: undefined,
    begin: async ({ kind }: PendingCommand) => void begun.push(kind),
    mayHaveBeenSent: () => false,
    limitReached: undefined,
    hasParked: async () => false,
  } as unknown as CommandContext;
  return { begun, context };
}

test.each([
  { kind: "message", body: { input: "hi", mode: "queue" } },
  { kind: "compact", body: {} },
  { kind: "review", body: { target: { type: "uncommittedChanges" } } },
  { kind: "revert", body: { beforeTurnId: "turn" } },
  { kind: "shell", body: { command: "ls" } },
] as const)("$kind waits until the session has reacted to a turn that was cut off", async (command) => {
  const { begun, context } = cutOffSession();
  const pending = { id: "id", key: "key", startedEpoch: null, ...command } as PendingCommand;
  expect(await executeCommand(pending, context)).toBe("wait");
  expect(begun).toEqual([]);
});
