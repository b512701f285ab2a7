import type { v2 } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import type { ServerRequestHandlers } from "../requests/handlers.ts";
import { flattenTools, toDynamicTools } from "./dynamic-tools.ts";
import { toolLimits } from "./limits.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { toContent } from "./tool-result.ts";
import { type AnyTool, type Tool, ToolInputError } from "./tool.ts";

/**
 * The tools of one thread: what the thread is started with, and the answers to their calls. A call always gets an answer
 * that the model can read; nothing that a tool does ends the turn.
 *
 * Codex keeps the tools' descriptions with the thread, but not the tools: a thread that is resumed needs its host again,
 * before the resume, since calls may follow at once.
 */
export class ToolHost {
  /** For `dynamicTools` of `thread/start`. */
  readonly specs: readonly v2.DynamicToolSpec[];
  /** For the desk that takes the server's requests. */
  readonly handlers: Pick<ServerRequestHandlers, "toolCall"> = {
    toolCall: (call, context) => this.call(call, context),
  };
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #lines = new Map<Tool, OneAtATime>();

  /** Throws `invalid_tool` for tools that Codex would refuse, or that it can't tell apart. */
  constructor(tools: readonly AnyTool[]) {
    this.specs = toDynamicTools(tools);
    this.#tools = new Map(flattenTools(tools).map((tool) => [nameOf(tool.namespace, tool.name), tool]));
  }

  /** Answers a call. Never rejects. */
  async call(
    call: v2.DynamicToolCallParams,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<v2.DynamicToolCallResponse> {
    const tool = this.#tools.get(nameOf(call.namespace, call.tool));
    if (!tool) {
      const known = [...this.#tools.keys()].join(", ") || "none";
      return failure(`There is no tool ${nameOf(call.namespace, call.tool)}. Known tools: ${known}.`);
    }
    try {
      const result = tool.parallel
        ? await this.#run(tool, call, signal)
        : await this.#runInLine(tool, call, signal);
      return { success: true, contentItems: await toContent(result) };
    } catch (error) {
      return failure(explain(tool, error));
    }
  }

  async #runInLine(tool: Tool, call: v2.DynamicToolCallParams, signal: AbortSignal): Promise<unknown> {
    const line = this.#lines.get(tool) ?? new OneAtATime();
    this.#lines.set(tool, line);
    const leave = await line.enter();
    return this.#run(tool, call, signal, leave);
  }

  /** Runs until the tool is done, its time is up or its turn has ended; `done` is called when the next one may start. */
  #run(
    tool: Tool,
    { threadId, turnId, callId, tool: name, arguments: args }: v2.DynamicToolCallParams,
    turn: AbortSignal,
    done: () => void = () => {},
  ): Promise<unknown> {
    const timeout = new AbortController();
    const signal = AbortSignal.any([turn, timeout.signal]);
    return new Promise((resolve, reject) => {
      const limit = Number.isFinite(tool.timeoutMs)
        ? setTimeout(() => timeout.abort(timeoutError(tool)), tool.timeoutMs)
        : undefined;
      let grace: NodeJS.Timeout | undefined;
      const stop = (): void => {
        reject(signal.reason as Error);
        // A tool that is told to stop gets a moment to do so before it is called again.
        grace = setTimeout(done, toolLimits.stopGraceMs).unref();
      };
      if (signal.aborted) {
        clearTimeout(limit);
        reject(signal.reason as Error);
        done();
        return;
      }
      signal.addEventListener("abort", stop, { once: true });
      const settle = (): void => {
        clearTimeout(limit);
        clearTimeout(grace);
        signal.removeEventListener("abort", stop);
        done();
      };
      tool
        .invoke(args, { signal, threadId, turnId, callId, tool: name })
        .then(resolve, reject)
        .finally(settle);
    });
  }
}

function timeoutError(tool: Tool): CodexError {
  return new CodexError("timeout", `it took longer than ${tool.timeoutMs} ms`);
}

function explain(tool: Tool, error: unknown): string {
  const name = nameOf(tool.namespace, tool.name);
  if (error instanceof ToolInputError) {
    return `The arguments of ${name} are not valid; correct them and call again:\n${error.message}`;
  }
  return `The tool ${name} failed: ${messageOf(error)}`;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  try {
    return String(thrown);
  } catch {
    return "a value that has no text was thrown";
  }
}

function failure(text: string): v2.DynamicToolCallResponse {
  return { success: false, contentItems: [{ type: "inputText", text }] };
}

function nameOf(namespace: string | null | undefined, name: string): string {
  return namespace ? `${namespace}.${name}` : name;
}
