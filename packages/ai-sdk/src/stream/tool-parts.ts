import type { JSONValue, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ItemDeltaEvent, v2 } from "codexkit";
import { isDeepStrictEqual } from "node:util";
import { limits } from "../limits.ts";
import { type PartMetadata, providerMetadata } from "../items/metadata.ts";
import { OutputPace } from "./output-pace.ts";
import { type ToolView, toolView } from "../items/tool-view.ts";

type Part = LanguageModelV4StreamPart;

interface OpenCall {
  readonly input: JSONValue;
  readonly toolName: string;
  /** The end of what it has printed or said so far, and the length of all of it. */
  output: string;
  length: number;
  readonly pace: OutputPace;
}

/** What Codex does by itself, as calls of tools that the provider runs; each ends with one final result. */
export class ToolParts {
  readonly #metadata: (itemId: string) => PartMetadata;
  readonly #open = new Map<string, OpenCall>();
  /** Calls that the client was shown by another process. */
  readonly #known: ReadonlySet<string>;
  /** Calls that were shown in this step: an approval can only be asked for one of them. */
  readonly #shown = new Set<string>();
  #repeatsCalls = false;

  constructor(metadata: (itemId: string) => PartMetadata, known: ReadonlySet<string>) {
    this.#metadata = metadata;
    this.#known = known;
  }

  /**
   * @param repeatsCalls Whether a call of an earlier step comes again before its result: the AI SDK takes such a result alone
   * from a stream, where a UI finds the call by its id, but not from `doGenerate`.
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
    call.output = (call.output + news).slice(-limits.outputCharacters);
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

  /** A call that is not one of Codex's items, or not one that was shown in this step. */
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

  /** The result of a call that is not one of Codex's items. */
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

  /** The open call that this is about, for a request that names no item. */
  findOpen(toolName: string, input: JSONValue): string | undefined {
    const calls = [...this.#open].filter(([, call]) => call.toolName === toolName);
    const [id] = calls.find(([, call]) => isDeepStrictEqual(call.input, input)) ?? calls[0] ?? [];
    return id;
  }

  /** The turn is over: what is still open gets its final result now. */
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

  /** The call before a result, where it stands in an earlier step and has to come again. */
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

/** A call with its input: by the provider itself, which a UI shows without knowing the tool, or for the client to run. */
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
