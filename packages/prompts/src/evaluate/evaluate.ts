import { withTimeout } from "@codexkit/rpc/async";
import {
  type AnyTool,
  type Codex,
  defineTool,
  type Input,
  type InputPart,
  type Thread,
  type TurnResult,
} from "codexkit";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { PromptError } from "../errors.ts";
import { type PartialEvaluation } from "./evaluation-error.ts";
import type { Prompt } from "../prompt/define-prompt.ts";
import type { PromptSkill } from "../prompt/section.ts";
import { type RenderedPrompt, type RenderedTool, renderPrompt } from "../prompt/render-prompt.ts";
import { ResourceScope } from "../resources/resource-scope.ts";
import { Session } from "../session/session.ts";
import { ToolDispatcher } from "./tool-dispatcher.ts";
import type { WorkspaceSnapshot } from "../workspace/snapshot-store.ts";
import { disclosureTools, openedMessage } from "./disclosure.ts";
import { EvaluationReporter } from "./evaluation-reporter.ts";
import { Evaluation, type EvaluationResult } from "./evaluation.ts";
import { folderOf, openThread } from "./open-thread.ts";
import { checkEvaluateOptions, type EvaluateOptions, type EvaluationEvent } from "./options.ts";
import { type PromptOutput, toPromptOutput } from "./output.ts";
import { addSkillRoots } from "./skill-roots.ts";
import { StopControl } from "./stop-control.ts";
import { ThreadObserver } from "./thread-observer.ts";
import { toEvaluationError } from "./to-evaluation-error.ts";
import { UsageLedger } from "./usage-ledger.ts";

/** How often an agent may open sections, so that a prompt can't keep it busy with itself. */
const MAX_EXPANSIONS = 10;

const DEFAULT_CONTINUATIONS = 10;

/** How long running tools may take to end after the last turn has. */
const SETTLE_LIMIT_MS = 10_000;

/**
 * Evaluates a prompt: renders it, runs it as a turn of Codex with its tools, and returns the typed output.
 *
 * Rejects with a {@link PromptEvaluationError} that has everything produced so far.
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
  return new Evaluation((emit) => new Evaluator(codex, prompt, options, emit).run());
}

class Evaluator<Output> {
  readonly #id = crypto.randomUUID();
  readonly #codex: Codex;
  readonly #prompt: Prompt<Output>;
  readonly #options: EvaluateOptions;
  readonly #session: Session;
  readonly #output: PromptOutput<Output>;
  readonly #usage = new UsageLedger();
  readonly #reporter: EvaluationReporter;
  readonly #turns: TurnResult[] = [];
  readonly #opened = new Set<string>();
  /** Sections that the agent asked to open in the running turn. */
  #pendingKeys: readonly string[] = [];
  #rendered: RenderedPrompt = { name: "", text: "", sections: [], tools: [], skills: [] };
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
    this.#session = options.session ?? new Session();
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
      this.#rendered = this.#render();
      if (onFailure === "restore") checkpoint = await workspace?.snapshot();
      const result = await this.#runTurns(stop);
      const bundle = await this.#reporter.reportCompleted(this.#turns, result.output);
      return bundle === undefined ? result : { ...result, bundle };
    } catch (thrown) {
      const cause = stop.reason?.error ?? thrown;
      const restored = checkpoint && (await workspace?.restore(checkpoint));
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

  async #runTurns(stop: StopControl): Promise<EvaluationResult<Output>> {
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
    this.#reporter.reportRendered(this.#rendered);
    await using _skills = await addSkillRoots(this.#codex, this.#allSkills());
    const thread = await openThread({
      codex: this.#codex,
      session: this.#session,
      options: this.#options,
      tools: this.#allTools(),
      toSdkTool: (tool) => this.#toSdkTool(tool, dispatcher),
      onWarning: (message, error) => this.#reporter.warn(message, error),
    });
    this.#thread = thread;
    this.#reporter.reportThread(thread);
    observer.observe(thread);
    try {
      const { text, structured } = await this.#converse(thread, stop);
      return {
        evaluationId: this.#id,
        text,
        output: this.#output.unwrap(structured),
        threadId: thread.id,
        session: this.#session,
        usage: this.#usage.total,
        turns: this.#turns,
      };
    } finally {
      // Running tools must be committed or rolled back before the caller reads the session or the workspace.
      const late = (): Error =>
        new Error(`A tool is still running ${SETTLE_LIMIT_MS} ms after its evaluation.`);
      await withTimeout(dispatcher.settle(), SETTLE_LIMIT_MS, late).catch((error: unknown) => {
        this.#reporter.warn("The changes of a tool were not rolled back in time.", error);
      });
      await observer.stop();
      await thread.close();
    }
  }

  /** Runs turns until the agent has finished: it may open sections first, and a completion checker may send it back. */
  async #converse(thread: Thread, stop: StopControl): Promise<{ text: string; structured: unknown }> {
    const { completion } = this.#prompt.definition;
    const { maxContinuations = DEFAULT_CONTINUATIONS, workspace } = this.#options;
    let input: Input = this.#firstInput();
    let expansions = 0;
    let continuations = 0;
    for (;;) {
      const result = await this.#runTurn(thread, input, stop);
      if (this.#pendingKeys.length > 0) {
        expansions += 1;
        if (expansions > MAX_EXPANSIONS) {
          throw new PromptError(
            "invalid_definition",
            `The agent opened sections more than ${MAX_EXPANSIONS} times.`,
          );
        }
        input = this.#openSections();
        continue;
      }
      if (result.status === "interrupted") {
        throw new PromptError("aborted", "The turn was interrupted from outside the evaluation.");
      }
      const { finalResponse: text, structured } = result;
      const verdict = await completion?.check({ session: this.#session, workspace, cwd: thread.cwd, text });
      if (verdict?.complete !== false || continuations >= maxContinuations) return { text, structured };
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
    const result = await Promise.race([turn.result(), stop.stopped]);
    if ("error" in result) throw result.error;
    this.#turns.push(result);
    if (stop.reason) throw stop.reason.error;
    return result;
  }

  #openSections(): Input {
    const keys = this.#pendingKeys;
    this.#pendingKeys = [];
    for (const key of keys) this.#opened.add(key);
    const known = new Set(this.#rendered.skills);
    this.#rendered = this.#render();
    this.#reporter.reportRendered(this.#rendered);
    const newSkills = this.#rendered.skills.filter((skill) => !known.has(skill));
    return [openedMessage(this.#rendered, keys), ...toSkillParts(newSkills)];
  }

  #render(opened: ReadonlySet<string> = this.#opened): RenderedPrompt {
    const { overrides, workspace } = this.#options;
    try {
      return renderPrompt(this.#prompt, {
        context: { session: this.#session, workspacePreview: workspace?.preview() },
        opened,
        ...(overrides && { overrides }),
      });
    } catch (cause) {
      if (PromptError.is(cause)) throw cause;
      const message = cause instanceof Error ? cause.message : String(cause);
      const { name } = this.#prompt.definition;
      throw new PromptError("invalid_definition", `${name} could not be rendered: ${message}`, { cause });
    }
  }

  #firstInput(): Input {
    return [this.#rendered.text, ...toSkillParts(this.#rendered.skills)];
  }

  /** Skills of closed sections too: they may be opened. */
  #allSkills(): readonly PromptSkill[] {
    const { sections, skills } = this.#rendered;
    if (sections.every(({ visibility }) => visibility === "full")) return skills;
    return this.#render(new Set(sections.map(({ path }) => path))).skills;
  }

  /** Codex fixes the tools when a thread starts, so those of closed sections are among them; the dispatcher refuses them. */
  #allTools(): readonly RenderedTool[] {
    const { sections, tools } = this.#rendered;
    if (sections.every(({ visibility }) => visibility === "full")) return tools;
    const disclosure = disclosureTools(
      () => this.#rendered,
      (keys) => {
        this.#pendingKeys = [...new Set([...this.#pendingKeys, ...keys])];
      },
    );
    return [...tools, ...disclosure];
  }

  #toSdkTool(rendered: RenderedTool, dispatcher: ToolDispatcher): AnyTool {
    const { tool, description } = rendered;
    const base = defineTool({
      name: tool.name,
      description,
      input: tool.inputSchema,
      execute: () => undefined,
      // The dispatcher decides about the order: transactions run one at a time.
      parallel: true,
      ...(tool.timeoutMs !== undefined && { timeoutMs: tool.timeoutMs }),
    });
    return {
      ...base,
      invoke: async (args, context) => {
        // Rendered anew after an expansion, which may have opened the tool's section.
        const current = this.#rendered.tools.find((one) => one.tool.name === tool.name) ?? rendered;
        const text = await dispatcher.call(current, args, context);
        // Before the call is answered: otherwise Codex sends another request to the model, whose answer is discarded.
        if (this.#pendingKeys.length > 0) await this.#interruptForExpansion();
        return text;
      },
    };
  }

  /** The turn ends so that the next one can show the opened sections. */
  async #interruptForExpansion(): Promise<void> {
    await this.#thread?.interrupt().catch((error: unknown) => {
      this.#reporter.warn("The turn could not be interrupted to open sections.", error);
    });
  }

  /** Codex does not respond, so it is ended unless other turns are running on it. */
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

function toSkillParts(skills: readonly PromptSkill[]): readonly InputPart[] {
  return skills.map(({ name, path }) => ({ skill: { name, path: join(path, "SKILL.md") } }));
}
