import type { Command } from "@codexkit/daemon/client";
import type { OutgoingMessage } from "./outbox.ts";

/** A message that has not been sent to Codex yet. */
export interface QueuedMessage {
  readonly key: string;
  /** Undefined if another client sent the message, because the daemon does not serve the text. */
  readonly text: string | undefined;
  readonly imageCount: number;
  readonly commandId: string | undefined;
  readonly state: OutgoingMessage["state"];
  readonly mode: OutgoingMessage["mode"] | undefined;
  readonly problem: string | undefined;
}

/**
 * Returns the displayed queue: messages that the daemon has stored and not yet sent to Codex, in its order, then unsent messages.
 */
export function listQueue(
  commands: readonly Command[],
  outgoing: readonly OutgoingMessage[],
): readonly QueuedMessage[] {
  const waiting = commands.filter(({ kind, state }) => kind === "message" && state === "accepted");
  const known = new Map(outgoing.map((message) => [message.key, message]));
  const stored = waiting.map(({ key, id }) => ({ ...describe(key, known.get(key)), commandId: id }));
  const keys = new Set(waiting.map(({ key }) => key));
  const unsent = outgoing.filter(({ key, state }) => state !== "accepted" && !keys.has(key));
  return [...stored, ...unsent.map((message) => describe(message.key, message))];
}

function describe(key: string, message: OutgoingMessage | undefined): QueuedMessage {
  return {
    key,
    text: message?.text,
    imageCount: message?.images.length ?? 0,
    commandId: message?.commandId,
    state: message?.state ?? "accepted",
    mode: message?.mode,
    problem: message?.problem,
  };
}
