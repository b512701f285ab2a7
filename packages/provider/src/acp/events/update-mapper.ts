import { BoundedSet } from "@codexkit/rpc/async";
import { addCosts } from "../../contract/add-costs.ts";
import type { ActivityEvent, AgentCost, SystemEvent } from "../../contract/agent-event.ts";
import type { SessionUpdate, ToolCallPart } from "./session-notification.ts";
import { categoryOf, commandFromTitle, hasInput, mergeToolCall, type ToolCall } from "./tool-call.ts";
import { finalOutput, partialOutput } from "./tool-output.ts";
import { usageOfChunk } from "./usage.ts";

interface OpenTool {
  readonly call: ToolCall;
  /** When its `tool_use` was sent; undefined while the call is pending and its input may be incomplete. */
  readonly announcedMs?: number | undefined;
  /** The output that was already sent. */
  readonly sent: string;
  /** Why the call was denied, in case the agent sends no further update for it. */
  readonly denial?: string | undefined;
  /** Whether the call is known only from a permission request. */
  readonly isOnlyRequested?: boolean;
}

/** Number of ended calls to remember. Late updates of older ones would be reported as new calls. */
const ENDED_CALLS = 1_024;

const OUTPUT: ReadonlySet<SessionUpdate["sessionUpdate"]> = new Set([
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
]);

export interface UpdateMapperOptions {
  /** Names of the session's MCP servers. */
  readonly servers?: readonly string[];
  /** The cost of a resumed session before this prompt, in US dollars. Agents report the sum. */
  readonly earlierUsd?: number | undefined;
}

/** Converts the updates of one session to events, and collects the data for the terminal event. */
export class UpdateMapper {
  readonly #open = new Map<string, OpenTool>();
  readonly #ended = new BoundedSet<string>(ENDED_CALLS);
  readonly #servers: readonly string[];
  readonly #earlierUsd: number;
  #messages = 0;
  #inMessage = false;
  #messageId: string | undefined;
  #message = "";
  #usd: number | undefined;
  #tokens: AgentCost = {};
  #failed = false;
  #hasOutput = false;

  constructor({ servers = [], earlierUsd = 0 }: UpdateMapperOptions = {}) {
    this.#servers = servers;
    this.#earlierUsd = earlierUsd;
  }

  /** The agent's last message. */
  get message(): string {
    return this.#message;
  }

  /** The cost that the agent has reported so far. */
  get cost(): AgentCost {
    return this.#usd === undefined ? this.#tokens : { ...this.#tokens, usd: this.#usd };
  }

  /** Whether the agent reported that its turn failed. It may still respond with `end_turn`. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Whether a call is pending whose `tool_use` has not been sent. */
  get hasPending(): boolean {
    return this.#pending().length > 0;
  }

  /** Whether the agent has produced any output: text, a thought or a tool call. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  map(update: SessionUpdate): ActivityEvent[] {
    if (OUTPUT.has(update.sessionUpdate)) this.#hasOutput = true;
    const events = this.#map(update).map((event) => ({ ...event, raw: update }));
    // An update without an event does not end a message.
    if (events.length > 0) this.#inMessage = update.sessionUpdate === "agent_message_chunk";
    return events;
  }

  /** Merges the tool call of a permission request, and returns the call to evaluate. */
  mapPermission(part: ToolCallPart): ToolCall {
    const before = this.#open.get(part.toolCallId);
    const call = mergeToolCall(before?.call, part, this.#servers);
    if (this.#ended.has(part.toolCallId)) return call;
    // Its content and status describe the request, not the progress of the call.
    const { content: _content, status: _status, ...rest } = part;
    const kept = mergeToolCall(before?.call, rest, this.#servers);
    this.#open.set(call.id, { sent: "", isOnlyRequested: before === undefined, ...before, call: kept });
    return call;
  }

  /** The `tool_use` of an allowed call. Some agents send no further update before it ends. */
  allow(toolCallId: string): ActivityEvent[] {
    const open = this.#open.get(toolCallId);
    return open ? this.#announce(open) : [];
  }

  /** Records why a call was denied. */
  deny(toolCallId: string, denial: string): void {
    const open = this.#open.get(toolCallId);
    if (open) this.#open.set(toolCallId, { ...open, denial });
  }

  /** Returns the `tool_use` of pending calls with the input that is known. */
  announcePending(): ActivityEvent[] {
    return this.#pending().flatMap((open) => this.#announce(open));
  }

  /** Returns the results of calls that the agent left open. */
  closeOpen(reason: string): ActivityEvent[] {
    const uses = this.announcePending();
    // A call that was only requested and then denied never started.
    const open = [...this.#open.values()].filter(({ announcedMs }) => announcedMs !== undefined);
    this.#open.clear();
    const results = open.map(({ call, denial }): ActivityEvent => ({
      ...eventBase(call),
      kind: "tool_result",
      content: denial ?? reason,
      isError: true,
    }));
    return [...uses, ...results];
  }

  #pending(): readonly OpenTool[] {
    return [...this.#open.values()].filter(
      ({ announcedMs, isOnlyRequested = false }) => announcedMs === undefined && !isOnlyRequested,
    );
  }

  #announce(open: OpenTool): ActivityEvent[] {
    if (open.announcedMs !== undefined) return [];
    this.#open.set(open.call.id, { ...open, announcedMs: performance.now() });
    return [useOf(open.call)];
  }

  #map(update: SessionUpdate): ActivityEvent[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#onMessage(update);
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
        return [
          system("usage_updated", `${update.used} of ${update.size} tokens of the context window are used.`),
          ...(update.cost?.currency === "USD" ? this.#onCost(update.cost.amount) : []),
        ];
      case "notice":
        return [system("notice", [update.title, update.description ?? ""].join("\n").trim())];
      case "current_mode_update":
        return [system("mode_changed", update.currentModeId)];
      case "session_info_update":
        if (update._meta?.codex) this.#failed = update._meta.codex.threadStatus.type === "systemError";
        return [system("session_info_update", update.title ?? "")];
      case "user_message_chunk":
        // The prompt itself.
        return [];
      case "other":
        return [system(update.name, "")];
    }
  }

  #onMessage({
    content,
    messageId,
    _meta,
  }: Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" }>): ActivityEvent[] {
    const usage = usageOfChunk(_meta);
    if (usage) this.#tokens = addCosts(this.#tokens, { ...usage, turns: 1 });
    const used: readonly ActivityEvent[] = usage ? [{ kind: "usage", cost: this.cost }] : [];
    if (content.text === undefined)
      return [system("content", `The agent sent content of type ${content.type}.`), ...used];
    if (content.text === "") return [...used];
    const id = messageId ?? undefined;
    if (!this.#inMessage || id !== this.#messageId) {
      this.#messages += 1;
      this.#message = "";
      this.#messageId = id;
    }
    this.#message += content.text;
    return [
      { kind: "assistant_text", text: content.text, messageId: id ?? `message-${this.#messages}` },
      ...used,
    ];
  }

  /** Agents report the total of a session, and repeat it when it has not changed. */
  #onCost(total: number): ActivityEvent[] {
    const usd = Math.max(total - this.#earlierUsd, this.#usd ?? 0);
    if (usd === this.#usd) return [];
    this.#usd = usd;
    return [{ kind: "usage", cost: this.cost }];
  }

  #tool(part: ToolCallPart): ActivityEvent[] {
    const { toolCallId } = part;
    if (this.#ended.has(toolCallId)) return [];
    const before = this.#open.get(toolCallId);
    const merged = mergeToolCall(before?.call, part, this.#servers);
    // A name that was reported stays, even if the agent sends a different one later.
    const call = before?.announcedMs === undefined ? merged : { ...merged, ...stableName(before.call) };
    const { sent = "", denial } = before ?? {};
    const isEnd = call.status === "completed" || call.status === "failed";
    const isDue = isEnd || call.status !== "pending" || (before !== undefined && hasInput(part));
    const announcedMs = before?.announcedMs ?? (isDue ? performance.now() : undefined);
    const events = before?.announcedMs === undefined && isDue ? [useOf(call)] : [];
    if (isEnd) {
      this.#end(toolCallId);
      const isError = call.status === "failed";
      const content = finalOutput(call.output);
      return [...events, { ...eventBase(call), kind: "tool_result", content, isError }];
    }
    const output = partialOutput(call.output);
    this.#open.set(toolCallId, { call, announcedMs, sent: output, denial });
    // Each update repeats the content. Only the added part is reported.
    const added = output.startsWith(sent) ? output.slice(sent.length) : output;
    if (announcedMs === undefined || (events.length > 0 && added === "")) return events;
    const elapsedSeconds = (performance.now() - announcedMs) / 1_000;
    const news = added === "" ? {} : { output: added };
    return [...events, { ...eventBase(call), kind: "tool_progress", elapsedSeconds, ...news }];
  }

  #end(toolCallId: string): void {
    this.#open.delete(toolCallId);
    this.#ended.add(toolCallId);
  }
}

function useOf(call: ToolCall): ActivityEvent {
  const input = call.input ?? inputFromTitle(call);
  return { ...eventBase(call), kind: "tool_use", toolCategory: categoryOf(call), input };
}

/** Agents that send no input use the command as the title. */
function inputFromTitle(call: ToolCall): object {
  const { title, paths } = call;
  if (categoryOf(call) === "command") return { command: commandFromTitle(title) };
  return { title, ...(paths.length > 0 && { paths }) };
}

function eventBase({ id, name }: ToolCall): { readonly toolUseId: string; readonly toolName: string } {
  return { toolUseId: id, toolName: name };
}

function stableName({ name, isMcp }: ToolCall): Pick<ToolCall, "name" | "isMcp"> {
  return { name, isMcp };
}

function system(subtype: string, message: string): SystemEvent {
  return { kind: "system", subtype, message };
}
