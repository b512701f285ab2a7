import type { HarnessV1PromptControl } from "@ai-sdk/harness";
import type {
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolApprovalResponsePart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { z } from "zod";

type Answer = LanguageModelV4ToolResultPart | LanguageModelV4ToolApprovalResponsePart;
type ToolSubmission = Parameters<HarnessV1PromptControl["submitToolResult"]>[0];

const callSchema = z.object({
  type: z.literal("tool-call"),
  toolCallId: z.string(),
  toolName: z.string(),
  input: z.json(),
  providerExecuted: z.boolean().optional(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.json())).optional(),
});

/** Calls that a step waits for, as they are kept while the turn is suspended. */
export const asksSchema = z.object({
  calls: z.array(callSchema),
  approvals: z.array(z.object({ approvalId: z.string(), toolCallId: z.string() })),
});

/** What a step asks of its host, and the answers: together they are the prompt that the turn goes on with. */
export class StepAsks {
  readonly #calls = new Map<string, LanguageModelV4ToolCallPart>();
  /** The ids of client tools' calls and of approvals, each with its answer once there is one. */
  readonly #asked = new Map<string, Answer | undefined>();
  readonly #approvals = new Map<string, string>();

  static from({ calls, approvals }: z.infer<typeof asksSchema>): StepAsks {
    const asks = new StepAsks();
    for (const call of calls) asks.#call(call as LanguageModelV4ToolCallPart);
    for (const { approvalId, toolCallId } of approvals) asks.#approval(approvalId, toolCallId);
    return asks;
  }

  /** Hears of everything that the step shows. */
  hear(part: LanguageModelV4StreamPart): void {
    if (part.type === "tool-approval-request") this.#approval(part.approvalId, part.toolCallId);
    if (part.type !== "tool-call") return;
    const { toolCallId, toolName, input, providerExecuted, providerMetadata } = part;
    this.#call({
      type: "tool-call",
      toolCallId,
      toolName,
      input: JSON.parse(input) as unknown,
      ...(providerExecuted === undefined ? {} : { providerExecuted }),
      ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
    });
  }

  get areAsked(): boolean {
    return this.#asked.size > 0;
  }

  get areAnswered(): boolean {
    return [...this.#asked.values()].every((answer) => answer !== undefined);
  }

  submitResult({ toolCallId, output, isError = false, toolResult }: ToolSubmission): void {
    const toolName = this.#calls.get(toolCallId)?.toolName ?? "";
    this.#answer(toolCallId, {
      type: "tool-result",
      toolCallId,
      toolName,
      output:
        (toolResult?.output as LanguageModelV4ToolResultOutput | undefined) ?? toOutput(output, isError),
    });
  }

  submitApproval(answer: { approvalId: string; approved: boolean; reason?: string }): void {
    const { approvalId, approved, reason } = answer;
    this.#answer(approvalId, {
      type: "tool-approval-response",
      approvalId,
      approved,
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /** The messages that carry the answers: the calls, which say what thread and turn they are of, and what was said to them. */
  toPrompt(): LanguageModelV4Prompt {
    const answers = [...this.#asked.values()].filter((answer) => answer !== undefined);
    return [
      { role: "assistant", content: [...this.#calls.values()] },
      { role: "tool", content: answers },
    ];
  }

  toJSON(): z.infer<typeof asksSchema> {
    return {
      calls: [...this.#calls.values()] as z.infer<typeof callSchema>[],
      approvals: Array.from(this.#approvals, ([approvalId, toolCallId]) => ({ approvalId, toolCallId })),
    };
  }

  /** An answer to nothing, or a second one of an earlier step, is none of this step's. */
  #answer(id: string, answer: Answer): void {
    if (this.#asked.has(id)) this.#asked.set(id, answer);
  }

  #call(call: LanguageModelV4ToolCallPart): void {
    this.#calls.set(call.toolCallId, call);
    if (call.providerExecuted !== true) this.#asked.set(call.toolCallId, undefined);
  }

  #approval(approvalId: string, toolCallId: string): void {
    this.#approvals.set(approvalId, toolCallId);
    this.#asked.set(approvalId, undefined);
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
