import type { CodexEvent, ItemDeltaEvent, TurnEndEvent, TurnStartedEvent, v2 } from "codexkit";
import type { ActivityEvent, Subagent, ToolResultEvent, ToolUseEvent } from "../../contract/agent-event.ts";
import { toRequestResult, toRequestUse } from "./to-request-events.ts";
import { toSystemEvent } from "./to-system-event.ts";
import { toToolItem } from "./tool-item.ts";

interface OpenTool {
  readonly use: ToolUseEvent;
  readonly startedAt: number;
}

/**
 * Converts Codex events to events of the contract. Every `tool_use` gets exactly one `tool_result`: from Codex, or from
 * `closeOpen` at the end of the session.
 */
export class EventMapper {
  readonly #now: () => number;
  readonly #open = new Map<string, OpenTool>();
  /** Messages that were streamed as deltas. */
  readonly #streamed = new Set<string>();
  #hasPrompt = false;

  /** @param now Milliseconds. Default: the system clock. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  map(event: CodexEvent, subagent?: Subagent): readonly ActivityEvent[] {
    const events = this.#convert(event, subagent);
    return events.map((one) => ({ ...one, ...(subagent ? { subagent: subagent } : {}), raw: event }));
  }

  /** Results for the tools that have not ended. */
  closeOpen(reason: string): readonly ToolResultEvent[] {
    const results = [...this.#open.values()].map(({ use }) => resultOf(use, reason, true));
    this.#open.clear();
    return results;
  }

  #convert(event: CodexEvent, subagent: Subagent | undefined): readonly ActivityEvent[] {
    switch (event.type) {
      case "item.started":
        return this.#started(event.item, subagent);
      case "item.delta":
        return this.#delta(event, subagent);
      case "item.completed":
        return [...this.#completed(event.item, subagent), ...list(toSystemEvent(event))];
      case "approval.requested":
      case "question.requested":
        return [this.#begin(toRequestUse(event))];
      case "approval.resolved":
      case "question.resolved": {
        const [result, ...more] = toRequestResult(event);
        return [...this.#end(result), ...more];
      }
      case "turn.started":
      case "turn.completed":
      case "turn.failed":
      case "turn.interrupted":
        // The session itself has `init` and the terminal event instead.
        return subagent ? [agentTurn(event)] : [];
      default:
        return list(toSystemEvent(event));
    }
  }

  #started(item: v2.ThreadItem, subagent: Subagent | undefined): readonly ActivityEvent[] {
    const tool = toToolItem(item);
    const toolUseId = idOf(item.id, subagent);
    if (!tool || this.#open.has(toolUseId)) return [];
    const { name: toolName, category: toolCategory, input } = tool;
    return [this.#begin({ kind: "tool_use", toolName, toolUseId, input, toolCategory })];
  }

  #completed(item: v2.ThreadItem, subagent: Subagent | undefined): readonly ActivityEvent[] {
    const id = idOf(item.id, subagent);
    if (item.type === "agentMessage") {
      const isStreamed = this.#streamed.delete(id);
      return isStreamed || item.text === ""
        ? []
        : [{ kind: "assistant_text", text: item.text, messageId: id }];
    }
    if (item.type === "userMessage") return subagent ? [] : this.#userMessage(item);
    const tool = toToolItem(item);
    if (!tool) return [];
    // Codex reports some tools only when they are complete.
    const before = this.#started(item, subagent);
    const use = this.#open.get(id)?.use;
    return use ? [...before, ...this.#end(resultOf(use, tool.content, tool.isError))] : [];
  }

  #delta({ itemId, kind, delta }: ItemDeltaEvent, subagent: Subagent | undefined): readonly ActivityEvent[] {
    const id = idOf(itemId, subagent);
    if (kind === "message") {
      this.#streamed.add(id);
      return [{ kind: "assistant_text", text: delta, messageId: id }];
    }
    const tool = this.#open.get(id);
    // Reasoning and plans are reported once complete.
    if (!tool || (kind !== "command_output" && kind !== "tool_progress")) return [];
    const elapsedSeconds = (this.#now() - tool.startedAt) / 1000;
    const { toolUseId, toolName } = tool.use;
    return [{ kind: "tool_progress", toolUseId, toolName, elapsedSeconds, output: delta }];
  }

  /** The first user message of the session is its prompt. Later ones were injected. */
  #userMessage(item: Extract<v2.ThreadItem, { type: "userMessage" }>): readonly ActivityEvent[] {
    const first = !this.#hasPrompt;
    this.#hasPrompt = true;
    const text = item.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    return first ? [] : [{ kind: "system", subtype: "injected", message: text.join("\n") }];
  }

  #begin(use: ToolUseEvent): ToolUseEvent {
    this.#open.set(use.toolUseId, { use, startedAt: this.#now() });
    return use;
  }

  #end(result: ToolResultEvent): readonly ToolResultEvent[] {
    return this.#open.delete(result.toolUseId) ? [result] : [];
  }
}

function agentTurn(event: TurnStartedEvent | TurnEndEvent): ActivityEvent {
  const subtype = event.type.replace("turn.", "subagent_");
  if (event.type === "turn.started") return { kind: "system", subtype, message: "" };
  const message = event.type === "turn.failed" ? event.error.message : event.result.finalResponse;
  return { kind: "system", subtype, message };
}

function resultOf({ toolUseId, toolName }: ToolUseEvent, content: string, isError: boolean): ToolResultEvent {
  return { kind: "tool_result", toolUseId, toolName, content, isError };
}

/** Item ids are unique per agent only. */
function idOf(itemId: string, subagent: Subagent | undefined): string {
  return subagent ? `${subagent.id}/${itemId}` : itemId;
}

function list<Value>(value: Value | undefined): readonly Value[] {
  return value === undefined ? [] : [value];
}
