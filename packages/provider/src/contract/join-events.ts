import type { ActivityEvent } from "./agent-event.ts";

/** Maximum size of a joined event, so that dropping one does not lose the text of a whole session. */
const JOINED_CHARACTERS = 16 * 1024;

/** Joins two events if the second continues the first. */
export function joinEvents(first: ActivityEvent, second: ActivityEvent): ActivityEvent | undefined {
  if (sizeOf(first) + sizeOf(second) > JOINED_CHARACTERS) return undefined;
  if (first.kind === "assistant_text" && second.kind === "assistant_text") {
    // Without an id the end of a message is unknown.
    const same = first.messageId !== undefined && first.messageId === second.messageId;
    return same && first.subagent?.id === second.subagent?.id
      ? { ...second, text: first.text + second.text }
      : undefined;
  }
  if (first.kind === "tool_progress" && second.kind === "tool_progress") {
    const same = first.toolUseId === second.toolUseId && first.subagent?.id === second.subagent?.id;
    if (!same) return undefined;
    const output = (first.output ?? "") + (second.output ?? "");
    return output === "" ? second : { ...second, output };
  }
  // The newer count includes the older one.
  if (first.kind === "usage" && second.kind === "usage") return second;
  return undefined;
}

/** The number of characters of the text in an event. */
export function sizeOf(event: ActivityEvent): number {
  switch (event.kind) {
    case "assistant_text":
      return event.text.length;
    case "tool_progress":
      return event.output?.length ?? 0;
    case "tool_result":
      return event.content.length;
    case "system":
      return event.message.length;
    case "tool_use":
    case "usage":
      return 0;
  }
}
