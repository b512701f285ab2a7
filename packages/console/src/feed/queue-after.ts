import type { Command, SessionEvent } from "@codexkit/daemon/client";

type CommandEvent = Extract<
  SessionEvent,
  { readonly type: "command.accepted" | "command.started" | "command.finished" }
>;

/** Returns the commands that wait or run after an event. The same list if nothing has changed. */
export function queueAfter(queue: readonly Command[], event: CommandEvent): readonly Command[] {
  const known = queue.find(({ id }) => id === event.commandId);
  if (event.type === "command.finished") return known ? queue.filter((command) => command !== known) : queue;
  const state = event.type === "command.accepted" ? "accepted" : "running";
  if (known) return queue.map((command) => (command === known ? { ...known, state } : command));
  const command: Command = {
    id: event.commandId,
    sessionId: "",
    key: event.key,
    kind: event.kind,
    state,
    by: "",
    createdAt: event.at,
    finishedAt: null,
    result: null,
    problem: null,
  };
  return [...queue, command];
}
