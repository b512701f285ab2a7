import {
  HarnessCapabilityUnsupportedError,
  type HarnessV1ContinueTurnOptions,
  type HarnessV1ContinueTurnState,
  type HarnessV1PromptControl,
  type HarnessV1PromptTurnOptions,
  type HarnessV1ResumeSessionState,
  type HarnessV1Session,
} from "@ai-sdk/harness";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { CodexLanguageModelOptions } from "../model/options.ts";
import { PROVIDER_KEY } from "../stream/metadata.ts";
import { continueState, HARNESS_ID, type HarnessState, resumeState } from "./harness-state.ts";
import { HarnessTurn } from "./harness-turn.ts";
import { StepAsks } from "./step-asks.ts";
import { toFunctionTool, turnPrompt } from "./turn-prompt.ts";

export interface HarnessSessionOptions {
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly state: HarnessState;
  /** A turn of this process that was suspended. */
  readonly turn: HarnessTurn | undefined;
  readonly model: (modelId: string | undefined) => LanguageModelV4;
  /** Adds to the turn that runs on a thread. */
  readonly steer: (threadId: string, text: string) => Promise<void>;
  readonly compact: (threadId: string) => Promise<void>;
  readonly interrupt: (threadId: string) => Promise<void>;
  /** Of every call: the folder, and what is allowed in it. */
  readonly options: CodexLanguageModelOptions;
  /** Keeps a turn that nobody looks at, for whoever goes on with it. */
  readonly onSuspend: (turn: HarnessTurn) => void;
}

/** What a turn that this process knows nothing of is told, when its host wants it to go on. */
const CONTINUE = "Continue from where you were interrupted.";

/** A session of a harness: one thread, which Codex stores, and one turn at a time on it. */
export class HarnessSession implements HarnessV1Session {
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly #options: HarnessSessionOptions;
  readonly #asks: HarnessState["asks"];
  #threadId: string | undefined;
  #turn: HarnessTurn | undefined;
  #wasCompacted = false;

  constructor(options: HarnessSessionOptions) {
    this.#options = options;
    this.sessionId = options.sessionId;
    this.isResume = options.isResume;
    this.#threadId = options.state.threadId;
    this.#asks = options.state.asks;
    this.#turn = options.turn;
  }

  async doPromptTurn(options: HarnessV1PromptTurnOptions): Promise<HarnessV1PromptControl> {
    const turn = this.#newTurn(options);
    const control = turn.show(options.emit, options.abortSignal);
    turn.start(turnPrompt(options.prompt, options));
    return control;
  }

  async doContinueTurn(options: HarnessV1ContinueTurnOptions): Promise<HarnessV1PromptControl> {
    if (this.#turn !== undefined) return this.#turn.show(options.emit, options.abortSignal);
    const asks = this.#asks === undefined ? new StepAsks() : StepAsks.from(this.#asks);
    const turn = this.#newTurn(options, asks);
    const control = turn.show(options.emit, options.abortSignal);
    if (!asks.areAsked) turn.start(turnPrompt(CONTINUE, options));
    return control;
  }

  async doSuspendTurn(): Promise<HarnessV1ContinueTurnState> {
    const turn = this.#turn;
    turn?.hide();
    if (turn !== undefined) this.#options.onSuspend(turn);
    return continueState({ threadId: this.#threadId, asks: turn === undefined ? this.#asks : askedBy(turn) });
  }

  /** A thread is compacted between turns, which the next one shows. */
  async doCompact(customInstructions?: string): Promise<void> {
    if (customInstructions !== undefined) {
      const message = "Codex compacts in its own way: call compact without instructions.";
      throw new HarnessCapabilityUnsupportedError({ message, harnessId: HARNESS_ID });
    }
    if (this.#threadId === undefined) return;
    await this.#options.compact(this.#threadId);
    this.#wasCompacted = true;
  }

  async doDetach(): Promise<HarnessV1ResumeSessionState> {
    return resumeState({ threadId: this.#threadId });
  }

  doStop(): Promise<HarnessV1ResumeSessionState> {
    return this.doDetach();
  }

  async doDestroy(): Promise<void> {
    if (this.#turn === undefined || this.#turn.isOver) return;
    this.#turn.interrupt();
    // One that waits for an answer has no call that could be aborted. Its codex may be gone, and the turn with it.
    if (this.#threadId !== undefined) await this.#options.interrupt(this.#threadId).catch(() => {});
  }

  #newTurn(settings: HarnessV1ContinueTurnOptions, asks?: StepAsks): HarnessTurn {
    const wasCompacted = this.#wasCompacted;
    this.#wasCompacted = false;
    const model = this.#options.model(settings.model);
    const turn = new HarnessTurn(
      {
        call: (prompt, abortSignal) =>
          model.doStream({
            ...callSettings(settings),
            prompt,
            abortSignal,
            providerOptions: { [PROVIDER_KEY]: this.#callOptions() },
          }),
        wasCompacted,
        steer: async (text) => this.#options.steer(this.#threadId ?? "", text),
        onPart: (part) => {
          const metadata = "providerMetadata" in part ? part.providerMetadata?.[PROVIDER_KEY] : undefined;
          if (typeof metadata?.["threadId"] === "string") this.#threadId = metadata["threadId"];
        },
      },
      asks,
    );
    this.#turn = turn;
    return turn;
  }

  /** The thread is always named: the prompts of a harness hold only what is new. */
  #callOptions(): CodexLanguageModelOptions {
    const thread = this.#threadId === undefined ? {} : { threadId: this.#threadId };
    return { ...this.#options.options, ...thread };
  }
}

function askedBy({ asks }: HarnessTurn): HarnessState["asks"] {
  return asks.areAsked ? asks.toJSON() : undefined;
}

function callSettings(
  settings: HarnessV1ContinueTurnOptions,
): Pick<LanguageModelV4CallOptions, "tools" | "responseFormat"> {
  const { tools, responseFormat } = settings;
  return {
    tools: tools.map(toFunctionTool),
    ...(responseFormat === undefined ? {} : { responseFormat }),
  };
}
