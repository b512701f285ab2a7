import type { HarnessV1PromptControl } from "@ai-sdk/harness";
import type {
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { z } from "zod";
import type { StepAnswers } from "../prompt/read-answers.ts";
import type { ApprovalResponse } from "../prompt/read-prompt.ts";
import { PROVIDER_KEY } from "../items/metadata.ts";

type ToolSubmission = Parameters<HarnessV1PromptControl["submitToolResult"]>[0];

/** A step's requests as stored while the turn is suspended. */
export const stepRequestsSchema = z.object({
  origin: z.object({ threadId: z.string(), turnId: z.string().optional() }).optional(),
  calls: z.array(
    z.object({
      toolCallId: z.string(),
      toolName: z.string(),
      input: z.json(),
      /** Codex runs this tool, so the host can answer only an approval. */
      isCodexTool: z.boolean(),
    }),
  ),
  approvalIds: z.array(z.string()),
});

type StoredRequests = z.infer<typeof stepRequestsSchema>;
type StepCall = StoredRequests["calls"][number];

/** A step's requests to its host (tool results and approvals), with the answers as they arrive. */
export class StepRequests {
  #origin: StepAnswers["origin"] | undefined;
  readonly #calls = new Map<string, StepCall>();
  readonly #results = new Map<string, LanguageModelV4ToolResultPart | undefined>();
  readonly #approvals = new Map<string, ApprovalResponse | undefined>();

  static from({ origin, calls, approvalIds }: StoredRequests): StepRequests {
    const requests = new StepRequests();
    if (origin) requests.#origin = { threadId: origin.threadId, turnId: origin.turnId };
    for (const call of calls) requests.#addCall(call);
    for (const approvalId of approvalIds) requests.#approvals.set(approvalId, undefined);
    return requests;
  }

  /** Adds a part's request, if the part is one. */
  add(part: LanguageModelV4StreamPart): void {
    if (part.type === "tool-approval-request") this.#approvals.set(part.approvalId, undefined);
    if (part.type !== "tool-call") return;
    const { toolCallId, toolName, input, providerExecuted = false, providerMetadata } = part;
    const { threadId, turnId } = providerMetadata?.[PROVIDER_KEY] ?? {};
    if (typeof threadId === "string") {
      this.#origin = { threadId, turnId: typeof turnId === "string" ? turnId : undefined };
    }
    this.#addCall({
      toolCallId,
      toolName,
      input: JSON.parse(input) as StepCall["input"],
      isCodexTool: providerExecuted,
    });
  }

  get isEmpty(): boolean {
    return this.#results.size === 0 && this.#approvals.size === 0;
  }

  get isAnswered(): boolean {
    return [...this.#results.values(), ...this.#approvals.values()].every((answer) => answer !== undefined);
  }

  /** Adds a tool's result. Ignores one that this step did not request, such as a second answer to an earlier step. */
  submitResult({ toolCallId, output, isError = false, toolResult }: ToolSubmission): void {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || !this.#results.has(toolCallId)) return;
    const given = toolResult?.output as LanguageModelV4ToolResultOutput | undefined;
    this.#results.set(toolCallId, {
      type: "tool-result",
      toolCallId,
      toolName: call.toolName,
      output: given ?? toOutput(output, isError),
    });
  }

  /** Adds a decision. Ignores one that this step did not request. */
  submitApproval(answer: { approvalId: string; approved: boolean; reason?: string }): void {
    const { approvalId, approved, reason } = answer;
    if (this.#approvals.has(approvalId)) this.#approvals.set(approvalId, { approvalId, approved, reason });
  }

  /** The answers so far. */
  toAnswers(): StepAnswers {
    if (this.#origin === undefined) throw new Error("The requests of this step have no thread id.");
    return {
      origin: this.#origin,
      calls: [...this.#calls.values()],
      toolResults: [...this.#results.values()].filter((result) => result !== undefined),
      approvals: [...this.#approvals.values()].filter((answer) => answer !== undefined),
    };
  }

  toJSON(): StoredRequests {
    return {
      origin: this.#origin,
      calls: [...this.#calls.values()],
      approvalIds: [...this.#approvals.keys()],
    };
  }

  #addCall(call: StepCall): void {
    this.#calls.set(call.toolCallId, call);
    if (!call.isCodexTool) this.#results.set(call.toolCallId, undefined);
  }
}

function toOutput(output: unknown, isError: boolean): LanguageModelV4ToolResultOutput {
  const { type, reason } = (output ?? {}) as { type?: unknown; reason?: string };
  if (type === "execution-denied") return { type, ...(reason === undefined ? {} : { reason }) };
  if (type === "content") return output as LanguageModelV4ToolResultOutput;
  if (typeof output === "string") return { type: isError ? "error-text" : "text", value: output };
  const value = JSON.parse(JSON.stringify(output ?? null)) as null;
  return { type: isError ? "error-json" : "json", value };
}
