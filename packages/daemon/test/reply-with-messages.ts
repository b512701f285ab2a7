import type { ScriptRequest } from "@codexkit/scripted-model";

/** A reply that lists which of the messages are in a request, so that tests can check the history of a continued thread. */
export function replyWithMessages({ input }: ScriptRequest, messages: readonly string[]): string {
  const received = JSON.stringify(input.filter(({ role }) => role === "user"));
  return `heard: ${messages.filter((message) => received.includes(`"text":"${message}"`)).join(", ")}`;
}
