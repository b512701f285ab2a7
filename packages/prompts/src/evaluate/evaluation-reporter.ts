import type { CodexEvent, Thread, TurnResult } from "codexkit";
import { BundleRecorder } from "../bundle/bundle-recorder.ts";
import type { PromptEvaluationError } from "./evaluation-error.ts";
import type { Prompt } from "../prompt/define-prompt.ts";
import type { RenderedPrompt } from "../prompt/render-prompt.ts";
import { PromptExecuted, PromptRendered, RenderedTools } from "../session/session-event.ts";
import type { PromptSession } from "../session/session.ts";
import { TranscriptWriter } from "../transcript/transcript.ts";
import type { EvaluateOptions, EvaluationEvent } from "./options.ts";
import type { UsageLedger } from "./usage-ledger.ts";

export interface ReporterParts {
  readonly evaluationId: string;
  readonly prompt: Prompt<unknown>;
  readonly options: EvaluateOptions;
  readonly session: PromptSession;
  readonly usage: UsageLedger;
  readonly emit: (event: EvaluationEvent) => void;
}

/** Reports an evaluation to the session, the event stream, the transcript and the debug bundle. */
export class EvaluationReporter {
  readonly #parts: ReporterParts;
  readonly #recorder: BundleRecorder | undefined;
  readonly #transcript: TranscriptWriter;
  readonly #startedAt = Date.now();
  #rendered: RenderedPrompt | undefined;
  #thread: Thread | undefined;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
    const { evaluationId, session } = parts;
    const { bundle, transcript } = parts.options;
    const prompt = parts.prompt.definition.name;
    this.#recorder =
      bundle === undefined
        ? undefined
        : new BundleRecorder({
            folder: bundle,
            evaluationId,
            prompt,
            session,
            onError: (error) => this.warn("The debug bundle could not be written.", error),
          });
    this.#transcript = new TranscriptWriter({
      prompt,
      evaluationId,
      sinks: [...(transcript ? [transcript] : []), ...(this.#recorder ? [this.#recorder.addEntry] : [])],
      onError: (error) => this.warn("A transcript sink failed.", error),
    });
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  reportRendered(rendered: RenderedPrompt): void {
    this.#rendered = rendered;
    const { evaluationId } = this.#parts;
    const { name: prompt, text, sections, tools } = rendered;
    this.dispatch(
      PromptRendered({
        evaluationId,
        prompt,
        text,
        sections: sections.map(({ path, visibility }) => ({ path, visibility })),
      }),
    );
    this.dispatch(
      RenderedTools({
        evaluationId,
        prompt,
        tools: tools.map(({ tool: { name, inputSchema }, description }) => ({
          name,
          description,
          inputSchema,
        })),
      }),
    );
  }

  reportThread(thread: Thread): void {
    this.#thread = thread;
    this.#transcript.start(thread.id, { model: thread.settings.model, cwd: thread.cwd });
  }

  reportEvent(event: CodexEvent): void {
    this.#parts.emit({ type: "codex", event });
    this.#transcript.record(event);
  }

  /** Returns the path of the debug bundle, if there is one. */
  async reportCompleted(turns: readonly TurnResult[], output: unknown): Promise<string | undefined> {
    this.dispatch(PromptExecuted(this.#toExecuted("completed", turns)));
    this.#transcript.stop({ status: "completed" });
    return this.#recorder?.write("completed", this.#toContent(turns, output));
  }

  /** Returns the path of the debug bundle, if there is one. */
  async reportFailed(
    turns: readonly TurnResult[],
    { code, phase, message }: PromptEvaluationError,
  ): Promise<string | undefined> {
    const error = { code, phase, message };
    this.dispatch(PromptExecuted({ ...this.#toExecuted("failed", turns), error }));
    this.#transcript.error(error);
    this.#transcript.stop({ status: "failed" });
    return this.#recorder?.write("failed", this.#toContent(turns, undefined), error);
  }

  dispatch(event: { readonly type: string; readonly payload: unknown }): void {
    this.#parts.session.dispatch(event);
    this.#parts.emit({ type: "session", event: { ...event, at: Date.now() } });
  }

  progress(progress: { readonly tool: string; readonly callId: string; readonly message: string }): void {
    this.#parts.emit({ type: "tool.progress", ...progress });
  }

  warn(message: string, error: unknown): void {
    this.#parts.emit({ type: "warning", message, error });
  }

  #toExecuted(
    status: "completed" | "failed",
    turns: readonly TurnResult[],
  ): Parameters<typeof PromptExecuted>[0] {
    const { totalTokens, inputTokens, outputTokens } = this.#parts.usage.total;
    return {
      evaluationId: this.#parts.evaluationId,
      prompt: this.#parts.prompt.definition.name,
      threadId: this.#thread?.id,
      status,
      turns: turns.length,
      usage: { totalTokens, inputTokens, outputTokens },
      durationMs: Date.now() - this.#startedAt,
    };
  }

  #toContent(
    turns: readonly TurnResult[],
    output: unknown,
  ): { request: unknown; output: unknown; diff: string } {
    return {
      request: { params: this.#parts.prompt.params, text: this.#rendered?.text ?? "" },
      output: { text: turns.at(-1)?.finalResponse ?? "", output },
      diff: turns.map(({ diff }) => diff).join("\n"),
    };
  }
}
