import type {
  JSONObject,
  JSONValue,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { CodexEvent, ItemDeltaEvent, PlanUpdatedEvent, TurnEndEvent, v2 } from "codexkit";
import { CodexModelError } from "../errors.ts";
import { AI_SDK_LIMITS } from "../limits.ts";
import type { ClientRequest } from "../requests/client-request.ts";
import type { ReadAnswer } from "./answer-reader.ts";
import { requestParts } from "./request-parts.ts";
import { finishReason } from "./finish-reason.ts";
import { type PartMetadata, providerMetadata } from "../items/metadata.ts";
import { ReasoningParts } from "./reasoning-parts.ts";
import { TextParts } from "./text-parts.ts";
import { ToolParts } from "./tool-parts.ts";
import { toModelError } from "./turn-error.ts";
import { StepUsage } from "./usage.ts";

type Part = LanguageModelV4StreamPart;

export interface TurnPartsOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly readAnswer: ReadAnswer;
  /** Calls that another process has already emitted to the client. */
  readonly knownCalls?: ReadonlySet<string>;
  /** Whether plans are emitted. Default: true. */
  readonly plans?: boolean;
  /** Names of the tools that the provider runs. */
  readonly providerTools?: ReadonlySet<string>;
}

/** Converts a turn's events to AI SDK stream parts, for one stream or for several if the turn waits for its client. */
export class TurnParts {
  readonly #place: { readonly threadId: string; readonly turnId: string };
  readonly #text: TextParts;
  readonly #reasoning: ReasoningParts;
  readonly #tools: ToolParts;
  readonly #usage = new StepUsage();
  readonly #warnings: string[] = [];
  readonly #openApprovals = new Map<
    string,
    { readonly toolCallId: string; readonly toolName: string; readonly input: JSONValue }
  >();
  readonly #showsPlans: boolean;
  readonly #providerTools: ReadonlySet<string>;
  #plans = 0;

  constructor(options: TurnPartsOptions) {
    const { threadId, turnId, readAnswer, knownCalls = new Set() } = options;
    this.#place = { threadId, turnId };
    this.#showsPlans = options.plans ?? true;
    this.#providerTools = options.providerTools ?? new Set();
    const metadata = (itemId: string): PartMetadata => ({ ...this.#place, itemId });
    this.#text = new TextParts(metadata, readAnswer);
    this.#reasoning = new ReasoningParts(metadata);
    this.#tools = new ToolParts(metadata, knownCalls);
  }

  /** Converts an event. For the end of the turn, use `end`. */
  event(event: CodexEvent): Part[] {
    try {
      return this.#toParts(event);
    } catch (error) {
      // In a later release, an item may have a different shape. Leave out only that item.
      this.#warn(`An event of type ${event.type} could not be converted: ${String(error)}`);
      return [];
    }
  }

  #toParts(event: CodexEvent): Part[] {
    switch (event.type) {
      case "item.started":
        return this.#started(event.item);
      case "item.delta":
        return this.#delta(event);
      case "item.completed":
        return this.#completed(event.item);
      case "plan.updated":
        return this.#plan(event);
      case "usage.updated":
        this.#usage.update(event.usage);
        return [];
      case "warning":
        this.#warn(event.message);
        return !("model" in event) || event.model === undefined
          ? []
          : [{ type: "response-metadata", id: this.#place.turnId, modelId: event.model }];
      default:
        return [];
    }
  }

  /** @param repeatsCalls Whether calls of earlier steps are emitted again before their results, as `doGenerate` requires. */
  beginStep(repeatsCalls: boolean): void {
    this.#tools.beginStep(repeatsCalls);
  }

  /** Emits the result of an answered approval, if no item of this stream has one. */
  answered(approvalId: string, approved: boolean): Part[] {
    const call = this.#openApprovals.get(approvalId);
    this.#openApprovals.delete(approvalId);
    if (call === undefined || this.#tools.isOpen(call.toolCallId)) return [];
    return this.#tools.result(call.toolCallId, call, { approved });
  }

  /** Emits the requests of a waiting turn, and the end of the step. */
  requests(requests: readonly ClientRequest[]): Part[] {
    const shown = requests.flatMap((request) => this.#request(request));
    const raw = requests.some(({ kind }) => kind === "approval") ? "approval_requested" : "tool_called";
    const closing = [...this.#text.decide(false), ...this.#closed()];
    return [...closing, ...shown, this.#finish({ unified: "tool-calls", raw }, {})];
  }

  /** Converts the end of the turn. */
  end(end: TurnEndEvent): Part[] {
    const { diff, durationMs, usage } = end.result;
    if (usage.totalTokens > 0) this.#usage.update(usage);
    const reason = finishReason(end);
    const failure = end.type === "turn.failed" ? end.error : undefined;
    const error: Part[] =
      failure !== undefined && reason.unified === "error"
        ? [{ type: "error", error: toModelError(failure) }]
        : [];
    const finish = this.#finish(reason, {
      ...(diff !== "" && { diff }),
      ...(durationMs !== null && { durationMs }),
      ...(failure && { error: failure.message }),
      ...(this.#warnings.length > 0 && { warnings: [...this.#warnings] }),
    });
    return [...this.#text.decide(true), ...this.#closed(), ...this.#tools.end(), ...error, finish];
  }

  /**
   * Ends a turn whose events stopped before its end, because it did not react to an interrupt or its thread was released.
   * @param reason Why the call fails, if known.
   */
  lost(isInterrupted: boolean, reason?: CodexModelError): Part[] {
    const closed = [...this.#text.decide(true), ...this.#closed(), ...this.#tools.end()];
    if (isInterrupted && reason === undefined) {
      return [...closed, this.#finish({ unified: "interrupted", raw: "interrupted" }, {})];
    }
    const error =
      reason ?? new CodexModelError("closed", `Thread ${this.#place.threadId} was closed during a turn.`);
    return [...closed, { type: "error", error }, this.#finish({ unified: "error", raw: "closed" }, {})];
  }

  #warn(message: string): void {
    if (this.#warnings.length < AI_SDK_LIMITS.turnWarnings) this.#warnings.push(message);
  }

  #request(request: ClientRequest): Part[] {
    const { id, toolName, input } = request;
    const parts = requestParts(request, this.#tools, this.#place);
    const last = parts.at(-1);
    if (last?.type === "tool-approval-request") {
      this.#openApprovals.set(id, { toolCallId: last.toolCallId, toolName, input });
    }
    return parts;
  }

  #finish(reason: LanguageModelV4FinishReason, more: JSONObject): Part {
    return {
      type: "finish",
      finishReason: reason,
      usage: this.#usage.report(),
      providerMetadata: providerMetadata({ ...this.#place, ...more }),
    };
  }

  #closed(): Part[] {
    return [...this.#reasoning.endStep(), ...this.#text.endStep()];
  }

  #started(item: v2.ThreadItem): Part[] {
    // Since another item follows, the undecided message was not the answer.
    if (item.type !== "reasoning" && item.type !== "userMessage") {
      return [...this.#text.decide(false), ...this.#startedItem(item)];
    }
    return this.#startedItem(item);
  }

  #startedItem(item: v2.ThreadItem): Part[] {
    if (item.type === "agentMessage" || item.type === "plan") {
      this.#text.started(item);
      return [];
    }
    // New input interrupts a message, and Codex does not report its end.
    if (item.type === "userMessage") return this.#closed();
    if (item.type === "dynamicToolCall" && !this.#providerTools.has(item.tool)) return [];
    return this.#tools.started(item);
  }

  #delta(event: ItemDeltaEvent): Part[] {
    switch (event.kind) {
      case "message":
      case "plan":
        return this.#text.delta(event);
      case "reasoning":
      case "reasoning_summary":
        return this.#reasoning.delta(event);
      case "command_output":
      case "tool_progress":
        return this.#tools.delta(event);
    }
  }

  #completed(item: v2.ThreadItem): Part[] {
    switch (item.type) {
      case "agentMessage":
      case "plan":
        return this.#text.completed(item);
      case "reasoning":
        return this.#reasoning.completed(item);
      // The client's own messages and results.
      case "userMessage":
      case "functionCallOutput":
        return [];
      case "dynamicToolCall":
        return this.#providerTools.has(item.tool) ? this.#tools.completed(item) : [];
      default: {
        const parts = this.#tools.completed(item);
        return parts.length > 0 ? parts : [this.#custom(item)];
      }
    }
  }

  /** Emits each version of a plan as a separate call, because a plan has no item. */
  #plan({ plan, explanation }: PlanUpdatedEvent): Part[] {
    if (!this.#showsPlans) return [];
    this.#plans += 1;
    const id = `${this.#place.turnId}:plan:${this.#plans}`;
    const steps = plan.map(({ step, status }) => ({ step, status }));
    const input = { plan: steps, ...(explanation !== null && { explanation }) };
    return [
      ...this.#tools.call(id, "codex_plan", input),
      ...this.#tools.result(id, { toolName: "codex_plan", input }, { plan: steps }),
    ];
  }

  /** Converts an item that is neither text nor a tool: subagent activity, a compaction, a review or an unknown item. */
  #custom({ id, ...item }: v2.ThreadItem): Part {
    const kind = `codex.${item.type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}` as const;
    const fields = JSON.parse(JSON.stringify(item)) as JSONObject;
    return {
      type: "custom",
      kind,
      providerMetadata: providerMetadata({ ...this.#place, itemId: id, ...fields }),
    };
  }
}
