/** A recorded event. */
export interface PromptSessionEvent {
  readonly type: string;
  readonly payload: unknown;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A type of event. Call it to create an event. */
export interface EventDefinition<Payload> {
  readonly type: string;
  (payload: Payload): { readonly type: string; readonly payload: Payload };
}

/**
 * Defines a type of event that slices can react to. Its payload must be JSON.
 *
 * @example
 * const Reviewed = defineEvent<{ file: string }>("Reviewed");
 * session.dispatch(Reviewed({ file: "a.ts" }));
 */
export function defineEvent<Payload>(type: string): EventDefinition<Payload> {
  return Object.assign((payload: Payload) => ({ type, payload }), { type });
}

/** The prompt was rendered: before its first turn, and again after each expansion. */
export const PromptRendered = defineEvent<{
  readonly evaluationId: string;
  readonly prompt: string;
  readonly text: string;
  /** Path and visibility of each section. */
  readonly sections: readonly { readonly path: string; readonly visibility: "full" | "summary" }[];
}>("PromptRendered");

/** The tools that were offered with a rendered prompt. */
export const RenderedTools = defineEvent<{
  readonly evaluationId: string;
  readonly prompt: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: unknown;
  }[];
}>("RenderedTools");

/** A call to one of the prompt's tools or of Codex's own tools (`codex:command`, `codex:file_change`, `codex:mcp:…`). */
export const ToolInvoked = defineEvent<{
  readonly evaluationId: string;
  readonly prompt: string;
  readonly tool: string;
  readonly callId: string;
  readonly input: unknown;
  readonly success: boolean;
  /** The text sent to the model. */
  readonly text: string;
  /** The handler's result. */
  readonly value?: unknown;
  readonly durationMs: number;
  /** Paths that were not rolled back because something else may have changed them. */
  readonly conflicts?: readonly string[];
}>("ToolInvoked");

/** An evaluation ended. */
export const PromptExecuted = defineEvent<{
  readonly evaluationId: string;
  readonly prompt: string;
  readonly threadId: string | undefined;
  readonly status: "completed" | "failed";
  readonly turns: number;
  readonly usage: {
    readonly totalTokens: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  };
  readonly durationMs: number;
  readonly error?: { readonly code: string; readonly phase: string; readonly message: string };
}>("PromptExecuted");
