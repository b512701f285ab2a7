import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import type { OpenRequest, ReadContext } from "./open-request.ts";

/** The model asks the person. */
export interface UserInputRequest {
  readonly kind: "userInput";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  /** Each has an id, a text and mostly options; `isOther` allows an answer beside them, `isSecret` wants it hidden. */
  readonly questions: readonly v2.ToolRequestUserInputQuestion[];
  /** Whether the turn waits for the answer. */
  readonly isBlocking: boolean;
  /** The request as it came. */
  readonly params: v2.ToolRequestUserInputParams;
}

/** The person's answers by question id: an option's label or words of their own. Questions may stay open. */
export type UserInputAnswers = Readonly<Record<string, string | readonly string[]>>;

const answersSchema = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** What an event shows of an answer that is a secret. */
const MASKED = "[secret]";

export function openUserInput(
  params: v2.ToolRequestUserInputParams,
  { requestId }: ReadContext,
): OpenRequest {
  const { threadId, turnId, itemId, questions, isBlocking } = params;
  const request: UserInputRequest = {
    kind: "userInput",
    requestId,
    threadId,
    turnId,
    itemId,
    questions,
    isBlocking,
    params,
  };
  return {
    threadId,
    turnId,
    timed: true,
    requested: {
      type: "question.requested",
      threadId,
      turnId,
      itemId,
      requestId,
      kind: "userInput",
      request: params,
    },
    asks: (handlers) => [handlers.userInput && ((context) => handlers.userInput?.(request, context))],
    read: (value) => {
      const given = Object.entries(answersSchema.parse(value));
      const asked = new Map(questions.map((question) => [question.id, question]));
      const stray = given.find(([id]) => !asked.has(id));
      if (stray) throw new TypeError(`No question has the id "${stray[0]}".`);
      const lists = given.map(
        ([id, answer]) => [id, typeof answer === "string" ? [answer] : answer] as const,
      );
      const shown = lists.map(
        ([id, list]) => [id, asked.get(id)?.isSecret ? list.map(() => MASKED) : list] as const,
      );
      return { response: toResponse(lists), shown: toResponse(shown) };
    },
    refuse: (reason) => ({ response: { answers: {} }, reason }),
  };
}

function toResponse(lists: readonly (readonly [string, string[]])[]): v2.ToolRequestUserInputResponse {
  return { answers: Object.fromEntries(lists.map(([id, answers]) => [id, { answers }])) };
}
