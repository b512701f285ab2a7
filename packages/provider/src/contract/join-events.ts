import type { ActivityEvent } from "./agent-event.ts";

/** From this size on an event is not added to: dropping it later must not cost a whole session's words. */
const JOINED_CHARACTERS = 16 * 1024;

/** One event that says what two say, if the second only goes on with the first. */
export function joinEvents(first: ActivityEvent, second: ActivityEvent): ActivityEvent | undefined {
  if (sizeOf(first) + sizeOf(second) > JOINED_CHARACTERS) return undefined;
  if (first.kind === "assistant_text" && second.kind === "assistant_text") {
    // Without an id nobody knows where a message ends.
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

/** How much of the memory an event takes, as far as that can be large. */
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
