import type { IncomingHttpHeaders } from "node:http";

import type { CallOutput } from "./call-output.ts";
import { readOutputs } from "./call-output.ts";
import type { CommandResult } from "./command-result.ts";
import { commandResult } from "./command-result.ts";
import { isRecord } from "./json.ts";
import type { ModelKind, OfferedTool } from "./offered-tools.ts";
import { modelKind, offeredTools, toolIdentifier } from "./offered-tools.ts";

/** How the answer to a request ended: `"abandoned"` means that Codex hung up first, as it does on an interrupt. */
export type ReplyEnd = "completed" | "failed" | "cut" | "abandoned" | "closed";

/** One item of a request's `input`, as Codex sent it. */
export type InputItem = Readonly<Record<string, unknown>> & { readonly type: string };

/** One request of Codex to the model, as it was received. Everything but the body is read when it is first asked for. */
export class ScriptRequest {
  /** Which request of this model it was, from 0. */
  readonly index: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Settles when the answer ended, and says how. Never rejects. */
  readonly ended: Promise<ReplyEnd>;
  #tools: readonly OfferedTool[] | undefined;
  #outputs: readonly CallOutput[] | undefined;

  constructor(
    index: number,
    headers: IncomingHttpHeaders,
    body: Readonly<Record<string, unknown>>,
    ended: Promise<ReplyEnd>,
  ) {
    this.index = index;
    this.headers = headers;
    this.body = body;
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

  /** The tools offered, those reached from code included. */
  get tools(): readonly OfferedTool[] {
    this.#tools ??= offeredTools(this.body, this.input);
    return this.#tools;
  }

  /** The tools' names; a namespace is joined with two underscores, as in `mcp__server__tool`. */
  get toolNames(): readonly string[] {
    return this.tools.map(({ name, namespace }) =>
      namespace === undefined || namespace === "functions" ? name : `${namespace}__${name}`,
    );
  }

  /** Whether this model calls tools one by one (`"classic"`) or writes code that does (`"code"`). */
  get kind(): ModelKind {
    return modelKind(this.tools);
  }

  /** The offered tool of this name, whether called or reached from code. */
  tool(name: string, namespace?: string): OfferedTool | undefined {
    const wanted = toolIdentifier(name, namespace);
    return this.tools.find((tool) => toolIdentifier(tool.name, tool.namespace) === wanted);
  }

  /** The last thing the person said; what Codex adds in the person's name is left out. */
  get lastUserText(): string {
    return this.input.flatMap(userText).at(-1) ?? "";
  }

  /** Everything that tools gave back in this thread, oldest first. */
  get outputs(): readonly CallOutput[] {
    this.#outputs ??= this.input.flatMap(readOutputs);
    return this.#outputs;
  }

  /** What tools gave back since the model last spoke: empty on the first request of a turn. */
  get newOutputs(): readonly CallOutput[] {
    const { input } = this;
    const spoke = input.findLastIndex(
      ({ type, role }) => type === "reasoning" || type.endsWith("_call") || role === "assistant",
    );
    return input.slice(spoke + 1).flatMap(readOutputs);
  }

  /** What this call gave back; the newest where an id was used twice. */
  output(callId: string): CallOutput | undefined {
    return this.outputs.findLast((output) => output.callId === callId);
  }

  /** What this command gave back, in one shape for both kinds of model. */
  commandResult(callId: string): CommandResult | undefined {
    const output = this.output(callId);
    return output && commandResult(output.text);
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

/** Codex speaks in the person's name inside these marks. */
const injected =
  /^(?:<(?:environment_context|turn_aborted|user_instructions|skill|subagent_notification)>|# AGENTS\.md instructions)/;

function userText({ type, role, content }: InputItem): string[] {
  if (type !== "message" || role !== "user" || !Array.isArray(content)) return [];
  const texts = content.flatMap((part: unknown) =>
    isRecord(part) && part["type"] === "input_text" && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  const said = texts.filter((text) => !injected.test(text));
  return said.length > 0 ? [said.join("\n")] : [];
}
