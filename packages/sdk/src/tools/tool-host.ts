import type { v2 } from "@codexkit/protocol";
import { KeyedSerialQueue, raceAbort, timerDelay } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import type { ServerRequestHandlers } from "../requests/handlers.ts";
import { flattenTools, toDynamicTools } from "./dynamic-tools.ts";
import { TOOL_LIMITS } from "./limits.ts";

import { toContent } from "./tool-result.ts";
import { type AnyTool, type Tool, ToolInputError } from "./tool.ts";

/**
 * Runs the tools of one thread. Every call gets a response that the model can read; a failing tool never ends the turn.
 *
 * Codex stores the tools' descriptions with the thread, but not their functions. A resumed thread needs its host before the
 * resume request, because calls can follow immediately.
 */
export class ToolHost {
  /** For `dynamicTools` of `thread/start`. */
  readonly specs: readonly v2.DynamicToolSpec[];
  /** Handlers for the server's tool calls. */
  readonly handlers: Pick<ServerRequestHandlers, "toolCall"> = {
    toolCall: (call, context) => this.call(call, context),
  };
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #serialCalls = new KeyedSerialQueue<Tool>();

  /** Throws `invalid_tool` for tools that Codex would reject or can't distinguish. */
  constructor(tools: readonly AnyTool[]) {
    this.specs = toDynamicTools(tools);
    this.#tools = new Map(flattenTools(tools).map((tool) => [qualifyName(tool.namespace, tool.name), tool]));
  }

  /** Responds to a call. Never rejects. */
  async call(
    call: v2.DynamicToolCallParams,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<v2.DynamicToolCallResponse> {
    const tool = this.#tools.get(qualifyName(call.namespace, call.tool));
    if (!tool) {
      const known = [...this.#tools.keys()].join(", ") || "none";
      return toFailure(`There is no tool ${qualifyName(call.namespace, call.tool)}. Known tools: ${known}.`);
    }
    try {
      const result = tool.parallel
        ? await this.#run(tool, call, signal)
        : await this.#runSerially(tool, call, signal);
      return { success: true, contentItems: await toContent(result) };
    } catch (error) {
      return toFailure(explainError(tool, error));
    }
  }

  async #runSerially(tool: Tool, call: v2.DynamicToolCallParams, signal: AbortSignal): Promise<unknown> {
    const lock = await this.#serialCalls.acquire(tool);
    return this.#run(tool, call, signal, () => lock[Symbol.dispose]());
  }

  /** Runs until the tool ends, its timeout passes, or its turn ends. Calls `release` when the next call may start. */
  #run(
    tool: Tool,
    { threadId, turnId, callId, tool: name, arguments: args }: v2.DynamicToolCallParams,
    turn: AbortSignal,
    release: () => void = () => {},
  ): Promise<unknown> {
    if (turn.aborted) {
      release();
      return Promise.reject(turn.reason as Error);
    }
    const timeout = new AbortController();
    const signal = AbortSignal.any([turn, timeout.signal]);
    const limit = Number.isFinite(tool.timeoutMs)
      ? setTimeout(() => timeout.abort(timeoutError(tool)), timerDelay(tool.timeoutMs))
      : undefined;
    let grace: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      // An aborted tool gets time to stop before it is called again.
      grace = setTimeout(release, TOOL_LIMITS.stopGraceMs).unref();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const invoke = async (): Promise<unknown> =>
      tool.invoke(args, { signal, threadId, turnId, callId, tool: name });
    const invoked = invoke().finally(() => {
      clearTimeout(limit);
      clearTimeout(grace);
      signal.removeEventListener("abort", onAbort);
      release();
    });
    return raceAbort(invoked, signal);
  }
}

function timeoutError(tool: Tool): CodexError {
  return new CodexError("timeout", `it took longer than ${tool.timeoutMs} ms`);
}

function explainError(tool: Tool, error: unknown): string {
  const name = qualifyName(tool.namespace, tool.name);
  if (ToolInputError.is(error)) {
    return `The arguments of ${name} are not valid; correct them and call again:\n${error.message}`;
  }
  return `The tool ${name} failed: ${messageOf(error)}`;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  try {
    return String(thrown);
  } catch {
    return "it threw a value that can't be converted to a string";
  }
}

function toFailure(text: string): v2.DynamicToolCallResponse {
  return { success: false, contentItems: [{ type: "inputText", text }] };
}

function qualifyName(namespace: string | null | undefined, name: string): string {
  return namespace ? `${namespace}.${name}` : name;
}
