import type { CodexEvent, ItemDeltaEvent, TurnEndEvent, TurnStartedEvent, v2 } from "codexkit";
import type { ActivityEvent, Subagent, ToolResultEvent, ToolUseEvent } from "../../contract/agent-event.ts";
import { toRequestResult, toRequestUse } from "./to-request-events.ts";
import { toSystemEvent } from "./to-system-event.ts";
import { toToolItem } from "./tool-item.ts";

interface OpenTool {
  readonly use: ToolUseEvent;
  readonly startedAt: number;
}

/** The agent that an event is of, where that is not the session's own. */
export type Author = Subagent | undefined;

/**
 * Says what Codex says in the words of the contract. Every tool that it shows as begun it shows as ended, exactly once: by its
 * result, or by `closeOpen` at the end of the session.
 */
export class EventMapper {
  readonly #now: () => number;
  readonly #open = new Map<string, OpenTool>();
  /** Messages whose words came as they were written. */
  readonly #spoken = new Set<string>();
  #prompted = false;

  /** @param now Milliseconds; the real clock unless told. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  map(event: CodexEvent, author?: Author): readonly ActivityEvent[] {
    const said = this.#read(event, author);
    return said.map((one) => ({ ...one, ...(author ? { subagent: author } : {}), raw: event }));
  }

  /** The ends of the tools that Codex will not tell of any more. */
  closeOpen(why: string): readonly ToolResultEvent[] {
    const results = [...this.#open.values()].map(({ use }) => resultOf(use, why, true));
    this.#open.clear();
    return results;
  }

  #read(event: CodexEvent, author: Author): readonly ActivityEvent[] {
    switch (event.type) {
      case "item.started":
        return this.#started(event.item, author);
      case "item.delta":
        return this.#delta(event, author);
      case "item.completed":
        return [...this.#completed(event.item, author), ...list(toSystemEvent(event))];
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
        // Those of the session itself are its first and its last event.
        return author ? [agentTurn(event)] : [];
      default:
        return list(toSystemEvent(event));
    }
  }

  #started(item: v2.ThreadItem, author: Author): readonly ActivityEvent[] {
    const tool = toToolItem(item);
    const toolUseId = idOf(item.id, author);
    if (!tool || this.#open.has(toolUseId)) return [];
    const { name: toolName, category: toolCategory, input } = tool;
    return [this.#begin({ kind: "tool_use", toolName, toolUseId, input, toolCategory })];
  }

  #completed(item: v2.ThreadItem, author: Author): readonly ActivityEvent[] {
    const id = idOf(item.id, author);
    if (item.type === "agentMessage") {
      const spoken = this.#spoken.delete(id);
      return spoken || item.text === "" ? [] : [{ kind: "assistant_text", text: item.text, messageId: id }];
    }
    if (item.type === "userMessage") return author ? [] : this.#told(item);
    const tool = toToolItem(item);
    if (!tool) return [];
    // Codex tells of some tools only when they are done.
    const before = this.#started(item, author);
    const use = this.#open.get(id)?.use;
    return use ? [...before, ...this.#end(resultOf(use, tool.content, tool.isError))] : [];
  }

  #delta({ itemId, kind, delta }: ItemDeltaEvent, author: Author): readonly ActivityEvent[] {
    const id = idOf(itemId, author);
    if (kind === "message") {
      this.#spoken.add(id);
      return [{ kind: "assistant_text", text: delta, messageId: id }];
    }
    const tool = this.#open.get(id);
    // Thoughts and plans are told whole when they are done.
    if (!tool || (kind !== "command_output" && kind !== "tool_progress")) return [];
    const elapsedSeconds = (this.#now() - tool.startedAt) / 1000;
    const { toolUseId, toolName } = tool.use;
    return [{ kind: "tool_progress", toolUseId, toolName, elapsedSeconds, output: delta }];
  }

  /** The first message of the session is its prompt; what follows was injected. */
  #told(item: Extract<v2.ThreadItem, { type: "userMessage" }>): readonly ActivityEvent[] {
    const first = !this.#prompted;
    this.#prompted = true;
    const words = item.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    return first ? [] : [{ kind: "system", subtype: "injected", message: words.join("\n") }];
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

/** Codex numbers the items of each agent by itself: the same id may come from two. */
function idOf(itemId: string, author: Author): string {
  return author ? `${author.id}/${itemId}` : itemId;
}

function list<Value>(value: Value | undefined): readonly Value[] {
  return value === undefined ? [] : [value];
}
