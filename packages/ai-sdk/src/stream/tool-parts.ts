import type { JSONValue, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ItemDeltaEvent, v2 } from "codexkit";
import { isDeepStrictEqual } from "node:util";
import { AI_SDK_LIMITS } from "../limits.ts";
import { type PartMetadata, providerMetadata } from "../items/metadata.ts";
import { OutputPace } from "./output-pace.ts";
import { type ToolView, toolView } from "../items/tool-view.ts";

type Part = LanguageModelV4StreamPart;

interface OpenCall {
  readonly input: JSONValue;
  readonly toolName: string;
  /** The end of the output so far. `length` counts all of it. */
  output: string;
  length: number;
  readonly pace: OutputPace;
}

/** Converts Codex's own work to provider-executed tool calls. Each ends with one final result. */
export class ToolParts {
  readonly #metadata: (itemId: string) => PartMetadata;
  readonly #open = new Map<string, OpenCall>();
  /** Calls that another process has already emitted to the client. */
  readonly #known: ReadonlySet<string>;
  /** Calls emitted in this step. An approval can only be requested for one of them. */
  readonly #shown = new Set<string>();
  #repeatsCalls = false;

  constructor(metadata: (itemId: string) => PartMetadata, known: ReadonlySet<string>) {
    this.#metadata = metadata;
    this.#known = known;
  }

  /**
   * @param repeatsCalls Whether a call of an earlier step is emitted again before its result. From a stream, the AI SDK accepts
   * the result without its call, because a UI finds the call by its id. From `doGenerate`, it does not.
   */
  beginStep(repeatsCalls: boolean): void {
    this.#shown.clear();
    this.#repeatsCalls = repeatsCalls;
  }

  started(item: v2.ThreadItem): Part[] {
    const view = toolView(item);
    return view === undefined || view.isKnown === false ? [] : this.#call(item, view);
  }

  delta({ itemId, kind, delta }: ItemDeltaEvent): Part[] {
    const call = this.#open.get(itemId);
    if (call === undefined) return [];
    const news = kind === "tool_progress" && call.length > 0 ? `\n${delta}` : delta;
    call.output = (call.output + news).slice(-AI_SDK_LIMITS.outputCharacters);
    call.length += news.length;
    if (!call.pace.isDue(call.length)) return [];
    const omitted = call.length - call.output.length;
    const result = {
      ...(kind === "tool_progress" ? { progress: call.output } : { output: call.output }),
      ...(omitted > 0 && { omitted }),
    };
    return [
      ...this.#again(itemId, call),
      this.#result(itemId, call.toolName, { status: "inProgress", ...result }, { preliminary: true }),
    ];
  }

  completed(item: v2.ThreadItem): Part[] {
    const view = toolView(item);
    if (view === undefined) return [];
    const wasShown = this.#open.has(item.id) || this.#known.has(item.id);
    const parts = wasShown ? this.#again(item.id, view) : this.#call(item, view);
    this.#open.delete(item.id);
    const { toolName, result, isError = false, yields = [] } = view;
    return [...parts, this.#result(item.id, toolName, result, isError ? { isError } : {}), ...yields];
  }

  /** Emits a call, unless this step has already emitted it. */
  call(toolCallId: string, toolName: string, input: JSONValue): Part[] {
    if (this.#shown.has(toolCallId)) return [];
    this.#shown.add(toolCallId);
    return callParts({
      toolCallId,
      toolName,
      input,
      metadata: this.#metadata(toolCallId),
      by: "provider",
    });
  }

  /** Emits the result of a call that is not a Codex item. */
  result(
    toolCallId: string,
    { toolName, input }: Pick<ToolView, "toolName" | "input">,
    result: NonNullable<JSONValue>,
  ): Part[] {
    return [...this.#again(toolCallId, { toolName, input }), this.#result(toolCallId, toolName, result, {})];
  }

  isOpen(toolCallId: string): boolean {
    return this.#open.has(toolCallId);
  }

  /** Finds the open call for a request that has no item id. */
  findOpen(toolName: string, input: JSONValue): string | undefined {
    const calls = [...this.#open].filter(([, call]) => call.toolName === toolName);
    const [id] = calls.find(([, call]) => isDeepStrictEqual(call.input, input)) ?? calls[0] ?? [];
    return id;
  }

  /** Emits final results for the open calls when the turn has ended. */
  end(): Part[] {
    const parts = [...this.#open].flatMap(([id, call]) => [
      ...this.#again(id, call),
      this.#result(id, call.toolName, { status: "unfinished", output: call.output }, {}),
    ]);
    this.#open.clear();
    return parts;
  }

  #call(item: v2.ThreadItem, { toolName, input }: ToolView): Part[] {
    this.#open.set(item.id, { input, toolName, output: "", length: 0, pace: new OutputPace() });
    return this.call(item.id, toolName, input);
  }

  /** Repeats the call of a result, if it was emitted in an earlier step and must be emitted again. */
  #again(toolCallId: string, { toolName, input }: Pick<ToolView, "toolName" | "input">): Part[] {
    return this.#repeatsCalls ? this.call(toolCallId, toolName, input).slice(-1) : [];
  }

  #result(
    toolCallId: string,
    toolName: string,
    result: NonNullable<JSONValue>,
    how: { readonly preliminary?: true; readonly isError?: true },
  ): Part {
    return {
      type: "tool-result",
      toolCallId,
      toolName,
      result,
      dynamic: true,
      ...how,
      providerMetadata: providerMetadata(this.#metadata(toolCallId)),
    };
  }
}

/** Emits a call with its input: provider-executed and dynamic, or for the client to run. */
export function callParts(call: {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JSONValue;
  readonly metadata: PartMetadata;
  readonly by: "provider" | "client";
}): Part[] {
  const { toolCallId: id, toolName } = call;
  const input = JSON.stringify(call.input);
  const how = call.by === "provider" ? { providerExecuted: true, dynamic: true } : {};
  const metadata = { providerMetadata: providerMetadata(call.metadata) };
  return [
    { type: "tool-input-start", id, toolName, ...how, ...metadata },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName, input, ...how, ...metadata },
  ];
}
