import { setImmediate, setTimeout as delay } from "node:timers/promises";
import type { ToolContext } from "codexkit";
import { collectFeedback, type FeedbackProvider } from "../guardrails/feedback.ts";
import type { Budget } from "../limits/budget.ts";
import type { Deadline } from "../limits/deadline.ts";
import type { RenderedTool } from "../prompt/render-prompt.ts";
import type { ResourceScope } from "../resources/resource-scope.ts";
import { ToolInvoked } from "../session/session-event.ts";
import type { PromptSession } from "../session/session.ts";
import type { Workspace, WorkspaceTransaction } from "../workspace/workspace.ts";
import { ToolFailure, type PromptToolContext } from "../tools/define-prompt-tool.ts";
import type { PolicyCall, ToolPolicyVerdict } from "../tools/tool-policy.ts";

/** The dispatcher's view of its evaluation. */
export interface DispatchContext {
  readonly evaluationId: string;
  readonly prompt: string;
  readonly session: PromptSession;
  readonly resources: ResourceScope;
  readonly workspace: Workspace | undefined;
  readonly deadline: Deadline | undefined;
  readonly budget: Budget | undefined;
  readonly feedback: readonly FeedbackProvider[];
  readonly startedAt: number;
  readonly now: () => number;
  /** Returns why no tool may run any more, for example because the budget is exceeded. */
  readonly refusal: () => string | undefined;
  /** Number of Codex commands and patches that have started so far, and of those that are running. */
  readonly codexActivity: () => { readonly started: number; readonly running: number };
  readonly fileExists: (path: string) => boolean;
  /** Receives events to record in the session and report. */
  readonly onEvent: (event: { readonly type: string; readonly payload: unknown }) => void;
  readonly onProgress: (progress: {
    readonly tool: string;
    readonly callId: string;
    readonly message: string;
  }) => void;
  /** Receives failures that must not fail the call. */
  readonly onWarning: (message: string, error: unknown) => void;
}

interface CallOutcome {
  readonly success: boolean;
  readonly text: string;
  readonly value?: unknown;
  readonly conflicts?: readonly string[];
}

/** How long a handler may continue after its call is aborted. After that, its changes are rolled back while it runs. */
const ABORT_GRACE_MS = 5_000;

/**
 * Runs calls to the prompt's tools as transactions: parse, policies, snapshot, handler, event. A failure rolls back the session,
 * the resources and the workspace, and is reported to the model. It never ends the evaluation.
 */
export class ToolDispatcher {
  readonly #context: DispatchContext;
  readonly #running = new Set<Promise<unknown>>();
  #calls = 0;

  constructor(context: DispatchContext) {
    this.#context = context;
  }

  /** Runs a call. Resolves to the text for the model, or rejects with an error whose message is that text if the call failed. */
  async call(rendered: RenderedTool, args: unknown, sdk: ToolContext): Promise<string> {
    const call = this.#run(rendered, args, sdk);
    this.#running.add(call);
    try {
      const { success, text } = await call;
      if (success) return text;
      throw new ToolFailure(text);
    } finally {
      this.#running.delete(call);
    }
  }

  /** Resolves when all calls have ended and their changes are committed or rolled back. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #run(rendered: RenderedTool, args: unknown, sdk: ToolContext): Promise<CallOutcome> {
    const { session, evaluationId, prompt, now, onEvent } = this.#context;
    const startedAt = now();
    this.#calls += 1;
    let input: unknown = args;
    let outcome: CallOutcome;
    try {
      this.#checkOpen(rendered);
      input = rendered.tool.parse(args);
      outcome = await session.transact(() => this.#transact(rendered, input, sdk));
    } catch (error) {
      outcome = failed(error);
    }
    const { text, success, value, conflicts } = await this.#withFeedback(rendered.tool.name, outcome);
    onEvent(
      ToolInvoked({
        evaluationId,
        prompt,
        tool: rendered.tool.name,
        callId: sdk.callId,
        input: toJson(input),
        success,
        text,
        durationMs: now() - startedAt,
        ...(value !== undefined && { value: toJson(value) }),
        ...(conflicts && conflicts.length > 0 && { conflicts }),
      }),
    );
    return { text, success };
  }

  #checkOpen({ tool, closedBy }: RenderedTool): void {
    const refusal = this.#context.refusal();
    if (refusal !== undefined) throw new ToolFailure(refusal);
    if (closedBy === undefined) return;
    throw new ToolFailure(
      `${tool.name} belongs to section "${closedBy}", which is summarised. Call open_sections with keys ["${closedBy}"] first.`,
    );
  }

  async #transact(rendered: RenderedTool, input: unknown, sdk: ToolContext): Promise<CallOutcome> {
    const { workspace } = this.#context;
    if (!workspace) return this.#attempt(rendered, input, sdk, undefined);
    return workspace.transact(async (transaction) => {
      const outcome = await this.#attempt(rendered, input, sdk, transaction);
      if (outcome.success) transaction.commit();
      return outcome;
    });
  }

  /** Runs the policies and the handler. If one of them fails, undoes all changes. */
  async #attempt(
    rendered: RenderedTool,
    input: unknown,
    sdk: ToolContext,
    transaction: WorkspaceTransaction | undefined,
  ): Promise<CallOutcome> {
    const { session, resources, onWarning } = this.#context;
    const checkpoint = session.checkpoint();
    const activityBefore = this.#context.codexActivity();
    await using scope = resources.openCall();
    const restoreResources = scope.snapshot();
    try {
      const policyCall = this.#policyCall(rendered, input);
      await checkPolicies(rendered, policyCall);
      const { value, text } = await this.#runHandler(rendered, input, sdk, scope);
      for (const policy of rendered.policies) await policy.onSuccess?.(policyCall);
      return { success: true, value, text };
    } catch (error) {
      session.rollback(checkpoint);
      const failures: unknown[] = [];
      const attempt = async <Result>(undo: () => Promise<Result>): Promise<Result | undefined> =>
        undo().catch((failure: unknown) => void failures.push(failure));
      // Continue after a failure, so that the remaining changes are undone.
      for (const restore of restoreResources) await attempt(restore);
      const conflicts = await attempt(() => this.#rollBackWorkspace(transaction, activityBefore));
      for (const failure of failures)
        onWarning(`Some changes made by the tool ${rendered.tool.name} could not be undone.`, failure);
      return withConflicts(
        failures.length === 0 ? failed(error) : failedHalfway(error, failures),
        conflicts ?? [],
      );
    }
  }

  async #runHandler(
    { tool }: RenderedTool,
    input: unknown,
    sdk: ToolContext,
    scope: ResourceScope,
  ): Promise<{ value: unknown; text: string }> {
    const { session, workspace, deadline, budget, onProgress } = this.#context;
    const context: PromptToolContext = {
      session,
      workspace,
      deadline,
      budget,
      resources: scope,
      signal: sdk.signal,
      callId: sdk.callId,
      progress: (message) => onProgress({ tool: tool.name, callId: sdk.callId, message }),
    };
    sdk.signal.throwIfAborted();
    const result = await endAfterAbort(tool.run(input, context), sdk.signal);
    // The model never receives this result, so the call must have no effect either.
    sdk.signal.throwIfAborted();
    return result;
  }

  async #rollBackWorkspace(
    transaction: WorkspaceTransaction | undefined,
    before: { readonly started: number; readonly running: number },
  ): Promise<readonly string[]> {
    const { workspace } = this.#context;
    if (!transaction || !workspace) return [];
    // Let events that arrived while the handler was running be read first.
    await setImmediate();
    const after = this.#context.codexActivity();
    const wasAlone = before.running === 0 && after.started === before.started;
    const { conflicts } = await transaction.rollback(
      wasAlone ? {} : { mayRestore: (path) => workspace.isOwnWrite(path) },
    );
    return conflicts;
  }

  #policyCall({ tool }: RenderedTool, input: unknown): PolicyCall {
    const { session, fileExists } = this.#context;
    return { tool: tool.name, input, session, fileExists };
  }

  async #withFeedback(tool: string, outcome: CallOutcome): Promise<CallOutcome> {
    const { session, deadline, feedback, startedAt, now, fileExists, onWarning } = this.#context;
    if (feedback.length === 0) return outcome;
    const text = await collectFeedback({
      providers: feedback,
      context: { session, deadline, calls: this.#calls, tool },
      startedAt,
      now: now(),
      fileExists,
      onError: (provider, error) => onWarning(`The feedback provider "${provider}" failed.`, error),
    });
    return text === "" ? outcome : { ...outcome, text: `${outcome.text}\n\n${text}` };
  }
}

/** Checks that all policies allow the call. A policy that fails denies it. */
async function checkPolicies({ policies }: RenderedTool, call: PolicyCall): Promise<void> {
  for (const policy of policies) {
    let verdict: unknown;
    try {
      verdict = await policy.check(call);
    } catch (cause) {
      throw new ToolFailure(`The policy "${policy.name}" failed, so the call is denied.`, { cause });
    }
    // Like a failure, an invalid verdict denies the call.
    if (!isVerdict(verdict))
      throw new ToolFailure(
        `The policy "${policy.name}" returned an invalid verdict, so the call is denied.`,
      );
    if (!verdict.allow)
      throw new ToolFailure(`The policy "${policy.name}" denies the call: ${verdict.reason}`);
  }
}

function isVerdict(value: unknown): value is ToolPolicyVerdict {
  return typeof value === "object" && value !== null && "allow" in value && typeof value.allow === "boolean";
}

/** Gives a handler time to end after its call is aborted, because it may be changing files. */
async function endAfterAbort<Result>(handler: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const ended = new AbortController();
  const overdue = (async () => {
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true, signal: ended.signal });
      });
    }
    await delay(ABORT_GRACE_MS, undefined, { signal: ended.signal, ref: false });
    throw signal.reason;
  })();
  overdue.catch(() => {});
  try {
    return await Promise.race([handler, overdue]);
  } finally {
    ended.abort();
  }
}

function failed(error: unknown): CallOutcome {
  if (ToolFailure.is(error)) return { success: false, text: error.message };
  const message = describeError(error);
  return { success: false, text: `The tool failed and its changes were undone: ${message}` };
}

function failedHalfway(error: unknown, failures: readonly unknown[]): CallOutcome {
  const reasons = failures.map(describeError).join("; ");
  return {
    success: false,
    text: `The tool failed: ${describeError(error)}\nSome of its changes could not be undone: ${reasons}`,
  };
}

/** Describes a thrown value, which may even be an object that can't be read. */
function describeError(error: unknown): string {
  try {
    return error instanceof Error ? error.message || error.name : String(error);
  } catch {
    return "an error without a readable message";
  }
}

function withConflicts(outcome: CallOutcome, conflicts: readonly string[]): CallOutcome {
  if (conflicts.length === 0) return outcome;
  const note = `These paths could not be restored, because a command may have changed them since: ${conflicts.join(", ")}.`;
  return { ...outcome, text: `${outcome.text}\n${note}`, conflicts };
}

/** Converts a value for an event, which is stored as JSON. Values that are not JSON are described instead. */
function toJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return `a ${typeof value} that is not JSON`;
  }
}
