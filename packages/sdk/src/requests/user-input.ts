import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import type { OpenRequest, ParseContext } from "./open-request.ts";

/** A question of the model to the user. */
export interface UserInputRequest {
  readonly kind: "userInput";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  /**
   * Each has an ID, a text and usually options. `isOther` allows a free-text answer, `isSecret` requires that it is
   * hidden.
   */
  readonly questions: readonly v2.ToolRequestUserInputQuestion[];
  /** Whether the turn waits for the answer. */
  readonly isBlocking: boolean;
  /** The request as received. */
  readonly params: v2.ToolRequestUserInputParams;
}

/** The user's answers by question ID: labels of options, or free text. Questions may stay unanswered. */
export type UserInputAnswers = Readonly<Record<string, string | readonly string[]>>;

const answersSchema = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** Replaces secret answers in events. */
const MASKED = "[secret]";

export function parseUserInput(
  params: v2.ToolRequestUserInputParams,
  { requestId }: ParseContext,
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
    parse: (value) => {
      const given = Object.entries(answersSchema.parse(value));
      const asked = new Map(questions.map((question) => [question.id, question]));
      const stray = given.find(([id]) => !asked.has(id));
      if (stray) throw new TypeError(`No question has the ID "${stray[0]}".`);
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
