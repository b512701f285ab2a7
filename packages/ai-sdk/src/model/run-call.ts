import type { LanguageModelV4StreamPart, SharedV4Warning } from "@ai-sdk/provider";
import type { CodexHolder, Lease } from "../connection/codex-holder.ts";
import { CodexModelError } from "../errors.ts";
import { beginStep, type Step } from "../session/begin-step.ts";
import { stepStream } from "../session/step-stream.ts";
import { toModelError } from "../stream/turn-error.ts";
import { digestOfPrompt } from "../transcript/entry.ts";
import { StampedStep } from "../transcript/stamp.ts";
import type { CallDefaults } from "../options/model-settings.ts";
import { type Call, type CallRequest, readCall } from "../call/read-call.ts";

export interface RunningCall {
  readonly stream: ReadableStream<LanguageModelV4StreamPart>;
  readonly request: { readonly body: unknown };
  readonly call: Call;
}

/** Runs one call of the model: finds or starts its turn, and streams it. */
export async function runCall(
  modelId: string,
  defaults: CallDefaults,
  holder: CodexHolder,
  options: CallRequest,
  purpose: "stream" | "generate",
): Promise<RunningCall> {
  const signal = withClosing(options.abortSignal, holder.closing);
  signal.throwIfAborted();
  // Start Codex while the prompt is read.
  const leasing = holder.lease(signal);
  leasing.catch(() => {});
  let lease: Lease | undefined;
  try {
    const call = await readCall(modelId, defaults, { ...options, abortSignal: signal });
    lease = await leasing;
    const step = await beginStep(lease.sessions, call);
    for (const warning of [...call.warnings, ...step.warnings]) defaults.onWarning?.(warningText(warning));
    step.run.parts.beginStep(purpose === "generate");
    const used = lease;
    void step.run.ended.then(() => used.rest());
    return { stream: streamOf(step, call, used), request: { body: requestBody(step, call) }, call };
  } catch (error) {
    if (lease) lease.release();
    else
      void leasing.then(
        (unused) => unused.release(),
        () => {},
      );
    throw holder.closing.aborted ? holder.closing.reason : toModelError(error);
  }
}

function withClosing(signal: AbortSignal | undefined, closing: AbortSignal): AbortSignal {
  return signal === undefined ? closing : AbortSignal.any([signal, closing]);
}

function streamOf(step: Step, call: Call, lease: Lease): ReadableStream<LanguageModelV4StreamPart> {
  const { session, run, answered, warnings } = step;
  const { transcript } = session;
  return withUnusedResults(
    stepStream({
      run,
      opening: [
        { type: "stream-start", warnings: [...call.warnings, ...warnings] },
        { type: "response-metadata", id: run.turnId, timestamp: new Date(), modelId: run.modelId },
        ...answered.flatMap(({ approvalId, approved }) => run.parts.answered(approvalId, approved)),
      ],
      includeRaw: call.includeRaw,
      signal: call.signal,
      step: new StampedStep(digestOfPrompt(call.instructions, call.prompt.digests.entries)),
      onRecorded: (recorded, isComplete) => {
        transcript.record(recorded);
        if (isComplete) transcript.endTurn(run.turnId);
      },
      onRequests: () => {
        // Codex is needed until the client returns, but must not keep the program alive until then.
        lease.rest();
        session.park(() => lease.release());
      },
      onEnd: () => {
        if (session.run === run) session.run = undefined;
        lease.release();
      },
    }),
    call,
  );
}

/** If codex exited, adds the call's tool results to the error, because those tools have already run. */
function withUnusedResults(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { prompt }: Call,
): ReadableStream<LanguageModelV4StreamPart> {
  if (prompt.toolResults.length === 0) return stream;
  const toolResults = prompt.toolResults.map(({ toolCallId, toolName, output }) => ({
    toolCallId,
    toolName,
    output,
  }));
  return stream.pipeThrough(
    new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      transform(part, controller) {
        const isLost =
          part.type === "error" && CodexModelError.isInstance(part.error) && part.error.code === "codex_lost";
        if (!isLost) return controller.enqueue(part);
        const { message, cause } = part.error as CodexModelError;
        const error = new CodexModelError("codex_lost", message, { cause, toolResults });
        controller.enqueue({ type: "error", error });
      },
    }),
  );
}

function warningText(warning: SharedV4Warning): string {
  if (warning.type === "other" || warning.type === "deprecated") return warning.message;
  return `${warning.feature}: ${warning.details ?? warning.type}`;
}

/** Omits the options: bodies are logged, and options may contain secrets for MCP servers. */
function requestBody({ session, run }: Step, { prompt }: Call): unknown {
  return { threadId: session.thread.id, turnId: run.turnId, model: run.modelId, input: prompt.input };
}
