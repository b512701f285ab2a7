import type { HarnessV1PromptControl, HarnessV1StreamPart } from "@ai-sdk/harness";
import type {
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { createNullLanguageModelUsage } from "@ai-sdk/provider-utils";
import { toV3FinishReason } from "../v3/to-v3-part.ts";
import type { StepAnswers } from "../prompt/read-answers.ts";
import { harnessPart } from "./harness-part.ts";
import { harnessLimits } from "./limits.ts";
import { StepRequests } from "./step-requests.ts";

type Emit = (part: HarnessV1StreamPart) => void;
type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

export interface HarnessTurnOptions {
  /** Starts the turn with the user's input. */
  readonly startTurn: (
    prompt: LanguageModelV4Prompt,
    signal: AbortSignal,
  ) => Promise<LanguageModelV4StreamResult>;
  /** Continues the turn with the answers to its last step's requests. */
  readonly continueTurn: (answers: StepAnswers, signal: AbortSignal) => Promise<LanguageModelV4StreamResult>;
  readonly steer: (text: string) => Promise<void>;
  /** Whether the thread was compacted since the last turn. If so, the host is notified. */
  readonly wasCompacted: boolean;
  /** Receives every part of the model's streams. */
  readonly onPart: (part: LanguageModelV4StreamPart) => void;
  readonly bufferedParts?: number;
}

/** The host that receives the parts of a turn, until the turn ends or the host detaches. */
interface AttachedHost {
  readonly emit: Emit;
  readonly done: PromiseWithResolvers<void>;
  readonly release: () => void;
}

/**
 * A complete harness turn: any number of model calls, with the host's answers in between. It continues while no host is
 * attached, and buffers its parts for the next one.
 */
export class HarnessTurn {
  readonly #options: HarnessTurnOptions;
  readonly #abort = new AbortController();
  readonly #buffered: HarnessV1StreamPart[] = [];
  readonly #bufferedParts: number;
  #host: AttachedHost | undefined;
  #requests: StepRequests;
  #paused: Finish | undefined;
  #usage: LanguageModelV4Usage = createNullLanguageModelUsage();
  #begun = false;
  #end: { readonly error?: unknown } | undefined;

  /** @param requests Pending requests, if the turn continues one of another process. */
  constructor(options: HarnessTurnOptions, requests = new StepRequests()) {
    this.#options = options;
    this.#bufferedParts = options.bufferedParts ?? harnessLimits.bufferedParts;
    this.#requests = requests;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** The requests that the turn is waiting for. */
  get requests(): StepRequests {
    return this.#requests;
  }

  start(prompt: LanguageModelV4Prompt): void {
    void this.#step((signal) => this.#options.startTurn(prompt, signal));
  }

  /** Attaches a host. It receives the buffered parts first, then all later ones. */
  attach(emit: Emit, signal: AbortSignal | undefined): HarnessV1PromptControl {
    const done = Promise.withResolvers<void>();
    // A host that has detached no longer awaits this promise.
    done.promise.catch(() => {});
    const onAbort = (): void => this.#abort.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    // A host that disappeared while the turn waited for its answer may not have detached.
    this.detach();
    this.#host = { emit, done, release: () => signal?.removeEventListener("abort", onAbort) };
    for (const part of this.#buffered.splice(0)) emit(part);
    if (this.#end !== undefined) this.#close(this.#end);
    return {
      done: done.promise,
      submitToolResult: async (submission) => this.#answer((requests) => requests.submitResult(submission)),
      submitToolApproval: async (answer) => this.#answer((requests) => requests.submitApproval(answer)),
      submitUserMessage: (text) => this.#options.steer(text),
    };
  }

  /** Detaches the host. The turn continues. */
  detach(): void {
    this.#host?.release();
    this.#host?.done.resolve();
    this.#host = undefined;
  }

  interrupt(): void {
    this.#abort.abort(new Error("The session was ended."));
  }

  async #step(call: (signal: AbortSignal) => Promise<LanguageModelV4StreamResult>): Promise<void> {
    try {
      const { stream } = await call(this.#abort.signal);
      const finish = await this.#read(stream);
      // The model ends an aborted stream normally, but a harness must report an abort as an error with the host's reason.
      this.#abort.signal.throwIfAborted();
      this.#finishStep(finish);
    } catch (error) {
      this.#close({ error: this.#abort.signal.aborted ? this.#abort.signal.reason : error });
    }
  }

  async #read(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<Finish> {
    let finish: Finish | undefined;
    for await (const part of stream) {
      this.#options.onPart(part);
      if (part.type === "error") throw part.error;
      if (part.type === "finish") finish = part;
      else this.#handlePart(part);
    }
    if (finish === undefined) throw new Error("The model's stream ended without a finish part.");
    return finish;
  }

  #handlePart(part: Exclude<LanguageModelV4StreamPart, Finish | { type: "error" }>): void {
    this.#requests.add(part);
    // To a harness, all steps of a turn are one stream, so it starts only once.
    if (part.type === "stream-start") {
      if (this.#begun) return;
      this.#begun = true;
    }
    const converted = harnessPart(part);
    if (converted !== undefined) this.#emit(converted);
    if (part.type === "stream-start" && this.#options.wasCompacted) {
      this.#emit({ type: "compaction", trigger: "manual", summary: "" });
    }
  }

  #finishStep(finish: Finish): void {
    this.#usage = addUsage(this.#usage, finish.usage);
    if (!this.#requests.isEmpty) {
      this.#paused = finish;
      this.#continue();
      return;
    }
    // Like V3, harnesses have no finish reason for an interruption.
    const finishReason = toV3FinishReason(finish.finishReason);
    this.#emit({ type: "finish-step", finishReason, usage: finish.usage });
    this.#emit({ type: "finish", finishReason, totalUsage: this.#usage });
    this.#close({});
  }

  #answer(submit: (requests: StepRequests) => void): void {
    submit(this.#requests);
    this.#continue();
  }

  /**
   * Continues once all requests are answered. The step ends only now: a host that detached while the turn waited has ended the
   * step on its side, and expects the end when it returns with the answer.
   */
  #continue(): void {
    if (!this.#requests.isAnswered) return;
    const isOfAnotherProcess = !this.#begun;
    if (this.#paused === undefined && !isOfAnotherProcess) return;
    const usage = this.#paused?.usage ?? createNullLanguageModelUsage();
    const finishReason = { unified: "tool-calls", raw: this.#paused?.finishReason.raw } as const;
    this.#paused = undefined;
    this.#begun = true;
    const requests = this.#requests;
    this.#requests = new StepRequests();
    this.#emit({ type: "finish-step", finishReason, usage });
    void this.#step(async (signal) => this.#options.continueTurn(requests.toAnswers(), signal));
  }

  #emit(part: HarnessV1StreamPart): void {
    if (this.#host !== undefined) this.#host.emit(part);
    else if (this.#buffered.length < this.#bufferedParts) this.#buffered.push(part);
    else
      this.#abort.abort(
        new Error(`More than ${this.#bufferedParts} parts arrived while the turn was suspended.`),
      );
  }

  #close(end: { readonly error?: unknown }): void {
    this.#end = end;
    this.#host?.release();
    if ("error" in end) this.#host?.done.reject(end.error);
    else this.#host?.done.resolve();
  }
}

/** Adds the token counts of two steps. A count that neither step has stays undefined. */
function addUsage(one: LanguageModelV4Usage, other: LanguageModelV4Usage): LanguageModelV4Usage {
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
  };
}

function sum<Counts extends Record<string, number | undefined>>(one: Counts, other: Counts): Counts {
  const keys = Object.keys({ ...one, ...other });
  return Object.fromEntries(
    keys.map((key) => {
      const [a, b] = [one[key], other[key]];
      return [key, a === undefined ? b : a + (b ?? 0)];
    }),
  ) as Counts;
}
