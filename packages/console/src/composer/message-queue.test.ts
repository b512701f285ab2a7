import type { Command } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { listQueue } from "./message-queue.ts";
import type { OutgoingMessage } from "./outbox.ts";

function command(key: string, change: Partial<Command> = {}): Command {
  return { id: `c-${key}`, key, kind: "message", state: "accepted", ...change } as Command;
}

const outgoing = (key: string, state: OutgoingMessage["state"]): OutgoingMessage => ({
  key,
  text: `text of ${key}`,
  images: [],
  mode: "queue",
  state,
});

test("lists the daemon's queue first, then unsent messages", () => {
  const commands = [
    command("other"),
    command("a"),
    command("b", { state: "running" }),
    command("c", { kind: "settings" }),
  ];
  const messages = [outgoing("a", "accepted"), outgoing("b", "accepted"), outgoing("d", "unsent")];
  expect(listQueue(commands, messages)).toMatchObject([
    { key: "other", text: undefined, commandId: "c-other", state: "accepted" },
    { key: "a", text: "text of a", commandId: "c-a" },
    { key: "d", text: "text of d", state: "unsent", commandId: undefined },
  ]);
});
