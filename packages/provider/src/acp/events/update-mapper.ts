import type { ActivityEvent, AgentCost, SystemEvent } from "../../contract/agent-event.ts";
import type { SessionUpdate, ToolCallPart } from "./session-notification.ts";
import { categoryOf, mergeToolCall, outputOf, type ToolCall } from "./tool-call.ts";

interface OpenTool {
  readonly call: ToolCall;
  readonly beganMs: number;
  /** How much of its output was told already. */
  readonly told: string;
}

/** Turns what an ACP agent says of one session into events, and keeps what the last event needs. */
export class UpdateMapper {
  readonly #open = new Map<string, OpenTool>();
  readonly #done = new Set<string>();
  #messages = 0;
  #speaking = false;
  #message = "";
  #usd: number | undefined;

  /** The agent's last message. */
  get message(): string {
    return this.#message;
  }

  get cost(): AgentCost {
    return this.#usd === undefined ? {} : { usd: this.#usd };
  }

  /** What is known of a tool call that is open. */
  tool(id: string): ToolCall | undefined {
    return this.#open.get(id)?.call;
  }

  map(update: SessionUpdate): ActivityEvent[] {
    const events = this.#map(update).map((event) => ({ ...event, raw: update }));
    // What says nothing does not end a message either.
    if (events.length > 0) this.#speaking = update.sessionUpdate === "agent_message_chunk";
    return events;
  }

  /** Answers the tools that the agent left open. */
  closeOpen(reason: string): ActivityEvent[] {
    const open = [...this.#open.values()];
    this.#open.clear();
    return open.map(({ call }) => ({ ...nameOf(call), kind: "tool_result", content: reason, isError: true }));
  }

  #map(update: SessionUpdate): ActivityEvent[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#say(update.content, update.messageId);
      case "agent_thought_chunk":
        return [system("reasoning", update.content.text ?? "")];
      case "tool_call":
      case "tool_call_update":
        return this.#tool(update);
      case "plan":
        return [
          system(
            "plan_updated",
            update.entries.map(({ status, content }) => `${status}: ${content}`).join("\n"),
          ),
        ];
      case "usage_update":
        if (update.cost?.currency === "USD") this.#usd = update.cost.amount;
        return [system("usage_updated", `${update.used} of ${update.size} tokens of the window are used.`)];
      case "notice":
        return [system("notice", [update.title, update.description ?? ""].join("\n").trim())];
      case "current_mode_update":
        return [system("mode_changed", update.currentModeId)];
      case "user_message_chunk":
        // The runner's own words.
        return [];
      case "other":
        return [system(update.name, "")];
    }
  }

  #say(content: { readonly type: string; readonly text?: string | undefined }, id: unknown): ActivityEvent[] {
    if (content.text === undefined)
      return [system("content", `The agent gave a part of type ${content.type}.`)];
    if (!this.#speaking) {
      this.#messages += 1;
      this.#message = "";
    }
    this.#message += content.text;
    const messageId = typeof id === "string" ? id : `message-${this.#messages}`;
    return [{ kind: "assistant_text", text: content.text, messageId }];
  }

  #tool(part: ToolCallPart): ActivityEvent[] {
    const { toolCallId, status } = part;
    if (this.#done.has(toolCallId)) return [];
    const before = this.#open.get(toolCallId);
    const call = mergeToolCall(before?.call, part);
    const events: ActivityEvent[] = before ? [] : [useOf(call)];
    if (status === "completed" || status === "failed") {
      this.#open.delete(toolCallId);
      this.#done.add(toolCallId);
      const isError = status === "failed";
      return [...events, { ...nameOf(call), kind: "tool_result", content: outputOf(call), isError }];
    }
    const { beganMs = performance.now(), told = "" } = before ?? {};
    const output = outputOf(call);
    this.#open.set(toolCallId, { call, beganMs, told: output });
    if (!before) return events;
    const elapsedSeconds = (performance.now() - beganMs) / 1_000;
    // Content is replaced as a whole: only what was added to it is news.
    const added = output.startsWith(told) ? output.slice(told.length) : output;
    return [
      { ...nameOf(call), kind: "tool_progress", elapsedSeconds, ...(added === "" ? {} : { output: added }) },
    ];
  }
}

function useOf(call: ToolCall): ActivityEvent {
  const input = call.input ?? { title: call.title, ...(call.paths.length > 0 && { paths: call.paths }) };
  return { ...nameOf(call), kind: "tool_use", toolCategory: categoryOf(call), input };
}

function nameOf({ id, name }: ToolCall): { readonly toolUseId: string; readonly toolName: string } {
  return { toolUseId: id, toolName: name };
}

function system(subtype: string, message: string): SystemEvent {
  return { kind: "system", subtype, message };
}
