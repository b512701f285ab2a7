import type { v2 } from "@codexkit/protocol";
import type { CodexEvent, RawMessage, TurnEndEvent } from "../events/event.ts";
import { TurnFailedError } from "../events/turn-result.ts";
import type { TokenUsage } from "../events/turn-result.ts";
import type { ThreadEvent, Usage } from "./events.ts";
import type { ThreadItem, TodoListItem } from "./items.ts";
import { toItem } from "./to-item.ts";

/**
 * Converts the events of one turn to those of `codex exec --json`, which the original passes on. Items are numbered from
 * `item_0` in every turn.
 */
export class EventMapper {
  /** Emitted ids of the items in progress, by Codex's ids. */
  readonly #open = new Map<string, string>();
  #nextItem = 0;
  #todo: TodoListItem | undefined;
  #usage: TokenUsage | undefined;
  #lastError: string | undefined;

  map(event: CodexEvent): ThreadEvent[] {
    switch (event.type) {
      case "turn.started":
        return [{ type: "turn.started" }];
      case "item.started":
        return this.#mapStarted(event.item);
      case "item.completed":
        return this.#mapCompleted(event.item);
      case "plan.updated":
        return [this.#mapPlan(event.plan)];
      case "usage.updated":
        this.#usage = event.total;
        return [];
      case "warning":
        return this.#mapWarning(event.message, "raw" in event ? event.raw : undefined);
      case "notice":
      case "unknown":
        return event.raw.method === "error" ? this.#mapError(event.raw.params) : [];
      case "turn.completed":
      case "turn.failed":
      case "turn.interrupted":
        return [...this.#closePlan(), ...this.#mapEnd(event)];
      default:
        return [];
    }
  }

  /** Creates an item for a message that is not part of the turn. */
  toErrorItem(message: string): ThreadEvent {
    return { type: "item.completed", item: { id: this.#newId(), type: "error", message } };
  }

  #newId(): string {
    const id = `item_${this.#nextItem}`;
    this.#nextItem += 1;
    return id;
  }

  #mapStarted(item: v2.ThreadItem): ThreadEvent[] {
    // Messages and reasoning are emitted when they are complete.
    if (item.type === "agentMessage" || item.type === "reasoning" || !toItem(item, "")) return [];
    const id = this.#open.get(item.id) ?? this.#newId();
    this.#open.set(item.id, id);
    return toItemEvents("item.started", toItem(item, id));
  }

  #mapCompleted(item: v2.ThreadItem): ThreadEvent[] {
    if (!toItem(item, "")) return [];
    const id = this.#open.get(item.id) ?? this.#newId();
    this.#open.delete(item.id);
    return toItemEvents("item.completed", toItem(item, id));
  }

  #mapPlan(plan: readonly v2.TurnPlanStep[]): ThreadEvent {
    const items = plan.map(({ step, status }) => ({ text: step, completed: status === "completed" }));
    const type = this.#todo ? "item.updated" : "item.started";
    this.#todo = { id: this.#todo?.id ?? this.#newId(), type: "todo_list", items };
    return { type, item: this.#todo };
  }

  #mapWarning(message: string, raw: RawMessage | undefined): ThreadEvent[] {
    switch (raw?.method) {
      case "error":
        return this.#mapError(raw.params);
      case "warning":
        return [this.toErrorItem(message)];
      case "model/rerouted":
        return [this.toErrorItem(describeReroute(raw.params as v2.ModelReroutedNotification))];
      default:
        return [];
    }
  }

  #mapError(params: unknown): ThreadEvent[] {
    this.#lastError = withDetails((params as v2.ErrorNotification).error);
    return [{ type: "error", message: this.#lastError }];
  }

  /** The plan completes with its turn. A command that is still running stays open. */
  #closePlan(): ThreadEvent[] {
    const todo = this.#todo;
    this.#todo = undefined;
    return toItemEvents("item.completed", todo);
  }

  #mapEnd(event: TurnEndEvent): ThreadEvent[] {
    if (event.type === "turn.completed") return [{ type: "turn.completed", usage: toUsage(this.#usage) }];
    if (event.type === "turn.interrupted") return [];
    const error = event.error instanceof TurnFailedError ? event.error.turnError : undefined;
    const message = error ? withDetails(error) : (this.#lastError ?? event.error.message);
    return [{ type: "turn.failed", error: { message } }];
  }
}

function toItemEvents(type: "item.started" | "item.completed", item: ThreadItem | undefined): ThreadEvent[] {
  return item ? [{ type, item }] : [];
}

function toUsage(total: TokenUsage | undefined): Usage {
  return {
    input_tokens: total?.inputTokens ?? 0,
    cached_input_tokens: total?.cachedInputTokens ?? 0,
    cache_write_input_tokens: total?.cacheWriteInputTokens ?? 0,
    output_tokens: total?.outputTokens ?? 0,
    reasoning_output_tokens: total?.reasoningOutputTokens ?? 0,
  };
}

function withDetails({ message, additionalDetails }: v2.TurnError): string {
  return additionalDetails ? `${message} (${additionalDetails})` : message;
}

function describeReroute({ fromModel, toModel, reason }: v2.ModelReroutedNotification): string {
  const [first = "", ...rest] = reason;
  return `model rerouted: ${fromModel} -> ${toModel} (${first.toUpperCase()}${rest.join("")})`;
}
