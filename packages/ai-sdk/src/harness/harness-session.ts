import {
  HarnessCapabilityUnsupportedError,
  type HarnessV1ContinueTurnOptions,
  type HarnessV1ContinueTurnState,
  type HarnessV1PromptControl,
  type HarnessV1PromptTurnOptions,
  type HarnessV1ResumeSessionState,
  type HarnessV1Session,
} from "@ai-sdk/harness";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { CodexLanguageModel } from "../model/codex-language-model.ts";
import type { CodexLanguageModelOptions } from "../options/options.ts";
import { PROVIDER_KEY } from "../items/metadata.ts";
import { continueState, HARNESS_ID, type HarnessState, resumeState } from "./harness-state.ts";
import { HarnessTurn } from "./harness-turn.ts";
import { StepRequests } from "./step-requests.ts";
import { toFunctionTool, turnPrompt } from "./turn-prompt.ts";

export interface HarnessSessionOptions {
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly state: HarnessState;
  /** A turn that was suspended in this process. */
  readonly turn: HarnessTurn | undefined;
  readonly model: (modelId: string | undefined) => CodexLanguageModel;
  /** Adds input to the running turn of a thread. */
  readonly steer: (threadId: string, text: string) => Promise<void>;
  readonly compact: (threadId: string) => Promise<void>;
  readonly interrupt: (threadId: string) => Promise<void>;
  /** Options for every call: the working folder and the permissions. */
  readonly options: CodexLanguageModelOptions;
  /** Keeps a detached turn for the session that continues it. */
  readonly onSuspend: (turn: HarnessTurn) => void;
}

/** The prompt that continues a turn of another process. */
const CONTINUE = "Continue from where you were interrupted.";

/** A harness session: one stored thread that runs one turn at a time. */
export class HarnessSession implements HarnessV1Session {
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly #options: HarnessSessionOptions;
  readonly #requests: HarnessState["requests"];
  #threadId: string | undefined;
  #turn: HarnessTurn | undefined;
  #wasCompacted = false;

  constructor(options: HarnessSessionOptions) {
    this.#options = options;
    this.sessionId = options.sessionId;
    this.isResume = options.isResume;
    this.#threadId = options.state.threadId;
    this.#requests = options.state.requests;
    this.#turn = options.turn;
  }

  async doPromptTurn(options: HarnessV1PromptTurnOptions): Promise<HarnessV1PromptControl> {
    const turn = this.#newTurn(options);
    const control = turn.attach(options.emit, options.abortSignal);
    turn.start(turnPrompt(options.prompt, options));
    return control;
  }

  async doContinueTurn(options: HarnessV1ContinueTurnOptions): Promise<HarnessV1PromptControl> {
    if (this.#turn !== undefined) return this.#turn.attach(options.emit, options.abortSignal);
    const requests = this.#requests === undefined ? new StepRequests() : StepRequests.from(this.#requests);
    const turn = this.#newTurn(options, requests);
    const control = turn.attach(options.emit, options.abortSignal);
    if (requests.isEmpty) turn.start(turnPrompt(CONTINUE, options));
    return control;
  }

  async doSuspendTurn(): Promise<HarnessV1ContinueTurnState> {
    const turn = this.#turn;
    turn?.detach();
    if (turn !== undefined) this.#options.onSuspend(turn);
    const requests = turn === undefined ? this.#requests : pendingRequests(turn);
    return continueState({ threadId: this.#threadId, requests });
  }

  /** Compacts the thread between turns. The next turn reports the compaction. */
  async doCompact(customInstructions?: string): Promise<void> {
    if (customInstructions !== undefined) {
      const message = "Codex takes no instructions for compaction: call compact without instructions.";
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
    // A turn that waits for an answer has no call to abort. Its codex may have exited, which also ended the turn.
    if (this.#threadId !== undefined) await this.#options.interrupt(this.#threadId).catch(() => {});
  }

  #newTurn(settings: HarnessV1ContinueTurnOptions, requests?: StepRequests): HarnessTurn {
    const wasCompacted = this.#wasCompacted;
    this.#wasCompacted = false;
    const model = this.#options.model(settings.model);
    const turn = new HarnessTurn(
      {
        startTurn: (prompt, signal) => model.doStream({ ...this.#callSettings(settings, signal), prompt }),
        continueTurn: (answers, signal) =>
          model.continueStream({ ...this.#callSettings(settings, signal), answers }),
        wasCompacted,
        steer: async (text) => this.#options.steer(this.#threadId ?? "", text),
        onPart: (part) => {
          const metadata = "providerMetadata" in part ? part.providerMetadata?.[PROVIDER_KEY] : undefined;
          if (typeof metadata?.["threadId"] === "string") this.#threadId = metadata["threadId"];
        },
      },
      requests,
    );
    this.#turn = turn;
    return turn;
  }

  #callSettings(
    { tools, responseFormat }: HarnessV1ContinueTurnOptions,
    abortSignal: AbortSignal,
  ): Omit<LanguageModelV4CallOptions, "prompt"> {
    // The thread is always named, because a harness's prompts contain only the new input.
    const thread = this.#threadId === undefined ? {} : { threadId: this.#threadId };
    return {
      tools: tools.map(toFunctionTool),
      ...(responseFormat === undefined ? {} : { responseFormat }),
      abortSignal,
      providerOptions: { [PROVIDER_KEY]: { ...this.#options.options, ...thread } },
    };
  }
}

function pendingRequests({ requests }: HarnessTurn): HarnessState["requests"] {
  return requests.isEmpty ? undefined : requests.toJSON();
}
