import type { IncomingHttpHeaders } from "node:http";

import type { CallOutput } from "./call-output.ts";
import { readOutputs } from "./call-output.ts";
import type { CommandResult } from "./command-result.ts";
import { parseCommandResult } from "./command-result.ts";
import { isRecord } from "./json.ts";
import type { ModelKind, OfferedTool } from "./offered-tools.ts";
import type { RequestBody } from "./read-body.ts";
import { modelKind, offeredTools, toolIdentifier } from "./offered-tools.ts";

/** How the reply to a request ended. `"abandoned"` means that Codex disconnected first, as it does on an interrupt. */
export type ReplyEnd = "completed" | "failed" | "cut" | "abandoned" | "closed";

/** One item of a request's `input`, as Codex sent it. */
export type InputItem = Readonly<Record<string, unknown>> & { readonly type: string };

/** A request from Codex to the model. Everything except the body is parsed on first access. */
export class ScriptRequest {
  /** Index of the request, starting at 0. */
  readonly index: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Length of the body's text. */
  readonly bytes: number;
  /** Resolves when the reply has ended. Never rejects. */
  readonly ended: Promise<ReplyEnd>;
  #tools: readonly OfferedTool[] | undefined;
  #outputs: readonly CallOutput[] | undefined;

  constructor(
    index: number,
    headers: IncomingHttpHeaders,
    { json, bytes }: RequestBody,
    ended: Promise<ReplyEnd>,
  ) {
    this.index = index;
    this.headers = headers;
    this.body = json;
    this.bytes = bytes;
    this.ended = ended;
  }

  /** The model's name. */
  get model(): string {
    const { model } = this.body;
    return typeof model === "string" ? model : "";
  }

  get threadId(): string | undefined {
    return this.#metadata("thread_id");
  }

  get turnId(): string | undefined {
    return this.#metadata("turn_id");
  }

  /** The conversation so far. */
  get input(): readonly InputItem[] {
    const { input } = this.body;
    return Array.isArray(input) ? input.filter(isItem) : [];
  }

  /** The offered tools, including those that are called from code. */
  get tools(): readonly OfferedTool[] {
    this.#tools ??= offeredTools(this.body, this.input);
    return this.#tools;
  }

  /** The names of the tools. Namespaces are joined with two underscores: `mcp__server__tool`. */
  get toolNames(): readonly string[] {
    return this.tools.map(({ name, namespace }) =>
      namespace === undefined || namespace === "functions" ? name : `${namespace}__${name}`,
    );
  }

  /** Whether this model calls tools one by one (`"classic"`) or writes code that calls them (`"code"`). */
  get kind(): ModelKind {
    return modelKind(this.tools);
  }

  /** Finds an offered tool by name. */
  tool(name: string, namespace?: string): OfferedTool | undefined {
    const wanted = toolIdentifier(name, namespace);
    return this.tools.find((tool) => toolIdentifier(tool.name, tool.namespace) === wanted);
  }

  /** The user's last text, without the texts that Codex adds in the user role. */
  get lastUserText(): string {
    return this.input.flatMap(userText).at(-1) ?? "";
  }

  /** All tool outputs of this thread, oldest first. */
  get outputs(): readonly CallOutput[] {
    this.#outputs ??= this.input.flatMap(readOutputs);
    return this.#outputs;
  }

  /** The tool outputs since the model's last reply. Empty in the first request of a turn. */
  get newOutputs(): readonly CallOutput[] {
    const { input } = this;
    const spoke = input.findLastIndex(
      ({ type, role }) => type === "reasoning" || type.endsWith("_call") || role === "assistant",
    );
    return input.slice(spoke + 1).flatMap(readOutputs);
  }

  /** Finds the output of a call. Returns the newest if an id was used twice. */
  output(callId: string): CallOutput | undefined {
    return this.outputs.findLast((output) => output.callId === callId);
  }

  /** Finds the result of a command, in the same format for both kinds of model. */
  commandResult(callId: string): CommandResult | undefined {
    const output = this.output(callId);
    return output && parseCommandResult(output.text);
  }

  #metadata(key: string): string | undefined {
    const metadata = this.body["client_metadata"];
    const value = isRecord(metadata) ? metadata[key] : undefined;
    return typeof value === "string" ? value : undefined;
  }
}

function isItem(value: unknown): value is InputItem {
  return isRecord(value) && typeof value["type"] === "string";
}

/** Prefixes of the texts that Codex adds in the user role. */
const injected =
  /^(?:<(?:environment_context|turn_aborted|user_instructions|skill|subagent_notification)>|# AGENTS\.md instructions)/;

function userText({ type, role, content }: InputItem): string[] {
  if (type !== "message" || role !== "user" || !Array.isArray(content)) return [];
  const texts = content.flatMap((part: unknown) =>
    isRecord(part) && part["type"] === "input_text" && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  const written = texts.filter((text) => !injected.test(text));
  return written.length > 0 ? [written.join("\n")] : [];
}
