import { withTimeout } from "@codexkit/rpc/async";
import {
  type AnyTool,
  type Codex,
  defineTool,
  type Input,
  type Thread,
  TurnFailedError,
  type TurnResult,
} from "codexkit";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { checkValue, hasMethods } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { checkCompletion } from "../guardrails/completion.ts";
import { type PartialEvaluation } from "./evaluation-error.ts";
import type { Prompt } from "../prompt/define-prompt.ts";
import type { RenderedTool } from "../prompt/render-prompt.ts";
import { ResourceScope } from "../resources/resource-scope.ts";
import { PromptSession } from "../session/session.ts";
import { ToolDispatcher } from "./tool-dispatcher.ts";
import type { RestoreReport } from "../workspace/restore-paths.ts";
import type { WorkspaceSnapshot } from "../workspace/snapshot-store.ts";
import { EvaluationReporter } from "./evaluation-reporter.ts";
import { Evaluation, type EvaluationResult } from "./evaluation.ts";
import { folderOf, openThread, recordContent } from "./open-thread.ts";
import { checkEvaluateOptions, type EvaluateOptions, type EvaluationEvent } from "./options.ts";
import { type PromptOutput, toPromptOutput } from "./output.ts";
import { PromptView } from "./prompt-view.ts";
import { addSkillRoots } from "./skill-roots.ts";
import { closeInTime, StopControl } from "./stop-control.ts";
import { ThreadObserver } from "./thread-observer.ts";
import { toEvaluationError } from "./to-evaluation-error.ts";
import { UsageLedger } from "./usage-ledger.ts";

/** Maximum number of times that an agent may open sections, so that it can't do so forever. */
const MAX_EXPANSIONS = 10;

const DEFAULT_CONTINUATIONS = 10;

/** How long running tools may take to end after the last turn has ended. */
const SETTLE_LIMIT_MS = 10_000;

/**
 * Evaluates a prompt: renders it, runs it as a Codex turn with its tools, and returns the typed output.
 *
 * Rejects with a {@link PromptEvaluationError} that contains everything produced so far.
 *
 * @example
 * const { output } = await evaluate(codex, review.bind({ branch: "main" }), {
 *   budget: new Budget({ totalTokens: 200_000 }),
 *   deadline: Deadline.in(10 * 60_000),
 * });
 */
export function evaluate<Output>(
  codex: Codex,
  prompt: Prompt<Output>,
  options: EvaluateOptions = {},
): Evaluation<Output> {
  checkEvaluateOptions(options);
  checkValue("evaluate: codex", codex ?? null, "a Codex", (value) => hasMethods(value, "startThread"));
  checkValue("evaluate: prompt", prompt ?? null, "a bound prompt: definePrompt({ … }).bind()", isBoundPrompt);
  return new Evaluation((emit) => new Evaluator(codex, prompt, options, emit).run());
}

/** Detects the most likely mistake: a definition without `bind()`. */
function isBoundPrompt(value: unknown): boolean {
  return typeof value === "object" && value !== null && "definition" in value && "params" in value;
}

class Evaluator<Output> {
  readonly #id = crypto.randomUUID();
  readonly #codex: Codex;
  readonly #prompt: Prompt<Output>;
  readonly #options: EvaluateOptions;
  readonly #session: PromptSession;
  readonly #output: PromptOutput<Output>;
  readonly #usage = new UsageLedger();
  readonly #reporter: EvaluationReporter;
  readonly #turns: TurnResult[] = [];
  #thread: Thread | undefined;

  constructor(
    codex: Codex,
    prompt: Prompt<Output>,
    options: EvaluateOptions,
    emit: (event: EvaluationEvent) => void,
  ) {
    this.#codex = codex;
    this.#prompt = prompt;
    this.#options = options;
    this.#session = options.session ?? new PromptSession();
    this.#output = toPromptOutput(prompt.definition.output);
    this.#reporter = new EvaluationReporter({
      evaluationId: this.#id,
      prompt,
      options,
      session: this.#session,
      usage: this.#usage,
      emit,
    });
  }

  async run(): Promise<EvaluationResult<Output>> {
    const { workspace, onFailure = "keep", deadline, budget, signal } = this.#options;
    using stop = new StopControl({ deadline, budget, signal, onUnconfirmed: () => this.#abandonThread() });
    let checkpoint: WorkspaceSnapshot | undefined;
    try {
      stop.check();
      const view = new PromptView(this.#prompt, this.#session, this.#options);
      if (onFailure === "restore") checkpoint = await workspace?.snapshot();
      const result = await this.#runTurns(view, stop);
      await recordContent({ session: this.#session, options: this.#options });
      const bundle = await this.#reporter.reportCompleted(this.#turns, result.output);
      return bundle === undefined ? result : { ...result, bundle };
    } catch (thrown) {
      const cause = stop.reason?.error ?? thrown;
      const restored = checkpoint && (await this.#restore(checkpoint));
      const bundle = await this.#reporter.reportFailed(
        this.#turns,
        toEvaluationError(cause, this.#partial()),
      );
      throw toEvaluationError(cause, {
        ...this.#partial(),
        ...(restored && { restored }),
        ...(bundle !== undefined && { bundle }),
      });
    }
  }

  /** Restores the workspace. A failure is only reported, so that it does not hide why the evaluation failed. */
  async #restore(checkpoint: WorkspaceSnapshot): Promise<RestoreReport | undefined> {
    try {
      return await this.#options.workspace?.restore(checkpoint);
    } catch (error) {
      this.#reporter.warn("The workspace could not be restored.", error);
      return undefined;
    }
  }

  async #runTurns(view: PromptView, stop: StopControl): Promise<EvaluationResult<Output>> {
    const { definition } = this.#prompt;
    const observer = new ThreadObserver({
      evaluationId: this.#id,
      prompt: definition.name,
      usage: this.#usage,
      budget: this.#options.budget,
      stop,
      reporter: this.#reporter,
    });
    await using resources = ResourceScope.open(definition.resources);
    const dispatcher = this.#createDispatcher(resources, stop, observer);
    this.#reporter.reportRendered(view.rendered);
    const skills = await stop.raceOpening(addSkillRoots(this.#codex, view.allSkills()));
    await using _skills = { [Symbol.asyncDispose]: () => closeInTime(skills) };
    const opening = openThread({
      codex: this.#codex,
      session: this.#session,
      options: this.#options,
      tools: view.allTools(),
      toSdkTool: (tool) => this.#toSdkTool(tool, view, dispatcher),
      onWarning: (message, error) => this.#reporter.warn(message, error),
    });
    const thread = await stop.raceOpening(opening);
    this.#thread = thread;
    this.#reporter.reportThread(thread);
    observer.observe(thread);
    try {
      const { text, structured, isComplete } = await this.#converse(thread, view, stop);
      return {
        evaluationId: this.#id,
        text,
        isComplete,
        output: this.#output.unwrap(structured),
        threadId: thread.id,
        session: this.#session,
        usage: this.#usage.total,
        turns: this.#turns,
      };
    } finally {
      // Running tools must commit or roll back before the caller reads the session or the workspace.
      const late = (): Error =>
        new Error(`A tool is still running ${SETTLE_LIMIT_MS} ms after its evaluation ended.`);
      await withTimeout(dispatcher.settle(), SETTLE_LIMIT_MS, late).catch((error: unknown) => {
        this.#reporter.warn("A tool's changes were not rolled back in time.", error);
      });
      try {
        await observer.stop();
      } finally {
        await closeInTime(thread);
      }
    }
  }

  /** Runs turns until the agent has finished. It may open sections first, and a completion checker may make it continue. */
  async #converse(
    thread: Thread,
    view: PromptView,
    stop: StopControl,
  ): Promise<{ text: string; structured: unknown; isComplete: boolean }> {
    const { completion } = this.#prompt.definition;
    const { maxContinuations = DEFAULT_CONTINUATIONS, workspace } = this.#options;
    let input: Input = view.firstInput;
    let expansions = 0;
    let continuations = 0;
    for (;;) {
      const result = await this.#runTurn(thread, input, stop);
      if (view.mustExpand) {
        expansions += 1;
        if (expansions > MAX_EXPANSIONS) {
          throw new PromptError(
            "invalid_definition",
            `The agent opened sections more than ${MAX_EXPANSIONS} times.`,
          );
        }
        input = view.expand();
        this.#reporter.reportRendered(view.rendered);
        continue;
      }
      if (result.status === "interrupted") {
        throw new PromptError("aborted", "The turn was interrupted from outside the evaluation.");
      }
      const { finalResponse: text, structured } = result;
      const verdict =
        completion &&
        (await stop.race(
          checkCompletion(completion, { session: this.#session, workspace, cwd: thread.cwd, text }),
        ));
      if (!verdict || verdict.complete) return { text, structured, isComplete: true };
      if (continuations >= maxContinuations) {
        this.#reporter.warn(
          `The task is not complete after ${maxContinuations} continuations: ${verdict.feedback}`,
          undefined,
        );
        return { text, structured, isComplete: false };
      }
      continuations += 1;
      input = verdict.feedback;
    }
  }

  async #runTurn(thread: Thread, input: Input, stop: StopControl): Promise<TurnResult> {
    const { effort, summary } = this.#options.thread ?? {};
    stop.check();
    const turn = thread.run<unknown>(input, {
      ...(effort !== undefined && { effort }),
      ...(summary !== undefined && { summary }),
      ...(this.#output.schema && { outputSchema: this.#output.schema }),
    });
    stop.watchTurn(turn);
    const result = await stop.race(turn.result()).catch((error: unknown) => {
      if (TurnFailedError.is(error)) this.#turns.push(error.result);
      throw error;
    });
    this.#turns.push(result);
    if (stop.reason) throw stop.reason.error;
    return result;
  }

  #toSdkTool(rendered: RenderedTool, view: PromptView, dispatcher: ToolDispatcher): AnyTool {
    const { tool, description } = rendered;
    const base = defineTool({
      name: tool.name,
      description,
      input: tool.inputSchema,
      execute: () => undefined,
      // The dispatcher serialises the calls, because transactions run one at a time.
      parallel: true,
      ...(tool.timeoutMs !== undefined && { timeoutMs: tool.timeoutMs }),
    });
    return {
      ...base,
      invoke: async (args, context) => {
        // The prompt is rendered again after an expansion, which may have opened the tool's section.
        const current = view.rendered.tools.find((one) => one.tool.name === tool.name) ?? rendered;
        const text = await dispatcher.call(current, args, context);
        // Interrupt before answering the call. Otherwise, Codex sends another model request whose response is discarded.
        if (view.mustExpand) await this.#interruptForExpansion();
        return text;
      },
    };
  }

  /** Ends the turn, so that the next one can include the opened sections. */
  async #interruptForExpansion(): Promise<void> {
    await this.#thread?.interrupt().catch((error: unknown) => {
      this.#reporter.warn("The turn could not be interrupted to open sections.", error);
    });
  }

  /** Abandons the thread of an unresponsive codex, and ends that codex unless other turns are running on it. */
  async #abandonThread(): Promise<void> {
    const threadId = this.#thread?.id;
    const isEnded = await this.#codex.restartIfIdle({ except: threadId === undefined ? [] : [threadId] });
    const message = isEnded
      ? "Codex did not confirm the interrupt and was ended. The next call launches another."
      : "Codex did not confirm the interrupt. The thread is abandoned.";
    this.#reporter.warn(message, undefined);
  }

  #createDispatcher(resources: ResourceScope, stop: StopControl, observer: ThreadObserver): ToolDispatcher {
    const { workspace, deadline, budget } = this.#options;
    const folder = folderOf(this.#options);
    return new ToolDispatcher({
      evaluationId: this.#id,
      prompt: this.#prompt.definition.name,
      session: this.#session,
      resources,
      workspace,
      deadline,
      budget,
      feedback: this.#prompt.definition.feedback ?? [],
      startedAt: this.#reporter.startedAt,
      now: Date.now,
      refusal: () => stop.reason?.error.message,
      codexActivity: () => observer.activity,
      fileExists: (path) => existsSync(resolve(folder, path)),
      onEvent: (event) => this.#reporter.dispatch(event),
      onProgress: (progress) => this.#reporter.progress(progress),
      onWarning: (message, error) => this.#reporter.warn(message, error),
    });
  }

  #partial(): PartialEvaluation {
    return {
      text: this.#turns.at(-1)?.finalResponse ?? "",
      usage: this.#usage.total,
      turns: this.#turns,
      ...(this.#thread && { threadId: this.#thread.id }),
    };
  }
}
