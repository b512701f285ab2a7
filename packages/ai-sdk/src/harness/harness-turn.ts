import type { HarnessV1PromptControl, HarnessV1StreamPart } from "@ai-sdk/harness";
import type {
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { createNullLanguageModelUsage } from "@ai-sdk/provider-utils";
import { toV3FinishReason } from "../v3/to-v3-part.ts";
import { addUsage } from "./add-usage.ts";
import { harnessPart } from "./harness-part.ts";
import { harnessLimits } from "./limits.ts";
import { StepAsks } from "./step-asks.ts";

type Emit = (part: HarnessV1StreamPart) => void;
type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

export interface HarnessTurnOptions {
  /** One call of the model: the first with what the user said, each later one with the answers to what the one before asked. */
  readonly call: (
    prompt: LanguageModelV4Prompt,
    signal: AbortSignal,
  ) => PromiseLike<LanguageModelV4StreamResult>;
  readonly steer: (text: string) => Promise<void>;
  /** Whether the thread was compacted before, which a host is to see. */
  readonly wasCompacted: boolean;
  /** Hears what every part says of where it comes from. */
  readonly onPart: (part: LanguageModelV4StreamPart) => void;
  readonly unseenParts?: number;
}

/** A host's view of a turn, until the turn or the view ends. */
interface View {
  readonly emit: Emit;
  readonly done: PromiseWithResolvers<void>;
  readonly release: () => void;
}

/**
 * A whole turn of a harness: as many calls of the model as it takes, with the host's answers in between. It goes on while no
 * host looks, and keeps what happens for the next one.
 */
export class HarnessTurn {
  readonly #options: HarnessTurnOptions;
  readonly #abort = new AbortController();
  readonly #unseen: HarnessV1StreamPart[] = [];
  readonly #unseenParts: number;
  #view: View | undefined;
  #asks: StepAsks;
  #paused: Finish | undefined;
  #usage: LanguageModelV4Usage = createNullLanguageModelUsage();
  #begun = false;
  #end: { readonly error?: unknown } | undefined;

  /** @param asks What a turn of another process waits for. */
  constructor(options: HarnessTurnOptions, asks = new StepAsks()) {
    this.#options = options;
    this.#unseenParts = options.unseenParts ?? harnessLimits.unseenParts;
    this.#asks = asks;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** What the turn waits for, as it is kept while it is suspended. */
  get asks(): StepAsks {
    return this.#asks;
  }

  start(prompt: LanguageModelV4Prompt): void {
    void this.#step(prompt);
  }

  /** Shows the turn to a host, from what no host has seen yet. */
  show(emit: Emit, signal: AbortSignal | undefined): HarnessV1PromptControl {
    const done = Promise.withResolvers<void>();
    // A host that left does not hear it.
    done.promise.catch(() => {});
    const onAbort = (): void => this.#abort.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    // A host that went away over a question left its view behind.
    this.hide();
    this.#view = { emit, done, release: () => signal?.removeEventListener("abort", onAbort) };
    for (const part of this.#unseen.splice(0)) emit(part);
    if (this.#end !== undefined) this.#close(this.#end);
    return {
      done: done.promise,
      submitToolResult: async (submission) => this.#answer((asks) => asks.submitResult(submission)),
      submitToolApproval: async (answer) => this.#answer((asks) => asks.submitApproval(answer)),
      submitUserMessage: (text) => this.#options.steer(text),
    };
  }

  /** The host looks no longer; the turn goes on. */
  hide(): void {
    this.#view?.release();
    this.#view?.done.resolve();
    this.#view = undefined;
  }

  interrupt(): void {
    this.#abort.abort(new Error("The session was ended."));
  }

  async #step(prompt: LanguageModelV4Prompt): Promise<void> {
    try {
      const { stream } = await this.#options.call(prompt, this.#abort.signal);
      const finish = await this.#read(stream);
      // The model ends an aborted stream with what it had; to a harness it is an error, and the reason is the host's.
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
      else this.#take(part);
    }
    if (finish === undefined) throw new Error("The model's stream ended without saying how.");
    return finish;
  }

  #take(part: Exclude<LanguageModelV4StreamPart, Finish | { type: "error" }>): void {
    this.#asks.hear(part);
    // The steps of a turn are one stream to a harness: it begins once.
    if (part.type === "stream-start") {
      if (this.#begun) return;
      this.#begun = true;
    }
    const shown = harnessPart(part);
    if (shown !== undefined) this.#emit(shown);
    if (part.type === "stream-start" && this.#options.wasCompacted) {
      this.#emit({ type: "compaction", trigger: "manual", summary: "" });
    }
  }

  #finishStep(finish: Finish): void {
    this.#usage = addUsage(this.#usage, finish.usage);
    if (this.#asks.areAsked) {
      this.#paused = finish;
      this.#goOn();
      return;
    }
    // A harness knows no interruption, as V3 does not.
    const finishReason = toV3FinishReason(finish.finishReason);
    this.#emit({ type: "finish-step", finishReason, usage: finish.usage });
    this.#emit({ type: "finish", finishReason, totalUsage: this.#usage });
    this.#close({});
  }

  #answer(give: (asks: StepAsks) => void): void {
    give(this.#asks);
    this.#goOn();
  }

  /**
   * Goes on when everything is answered. Only now does the step end: a host that went away over a question has ended it for
   * itself, and expects its end when it is back with the answer.
   */
  #goOn(): void {
    if (!this.#asks.areAnswered) return;
    const isOfAnotherProcess = !this.#begun;
    if (this.#paused === undefined && !isOfAnotherProcess) return;
    const usage = this.#paused?.usage ?? createNullLanguageModelUsage();
    const finishReason = { unified: "tool-calls", raw: this.#paused?.finishReason.raw } as const;
    this.#paused = undefined;
    this.#begun = true;
    const prompt = this.#asks.toPrompt();
    this.#asks = new StepAsks();
    this.#emit({ type: "finish-step", finishReason, usage });
    void this.#step(prompt);
  }

  #emit(part: HarnessV1StreamPart): void {
    if (this.#view !== undefined) this.#view.emit(part);
    else if (this.#unseen.length < this.#unseenParts) this.#unseen.push(part);
    else
      this.#abort.abort(new Error(`More than ${this.#unseenParts} parts came while the turn was suspended.`));
  }

  #close(end: { readonly error?: unknown }): void {
    this.#end = end;
    this.#view?.release();
    if ("error" in end) this.#view?.done.reject(end.error);
    else this.#view?.done.resolve();
  }
}
