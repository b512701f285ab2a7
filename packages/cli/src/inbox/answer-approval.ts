import {
  type Approval,
  type ApprovalOffer,
  DaemonClientError,
  type DecisionScope,
  type InboxAnswer,
} from "@codexkit/daemon/client";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { CliError, EXIT, usageError } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";
import { summarizeRequest } from "../render/format-request.ts";
import { findApproval } from "./list-inbox.ts";

export interface AnswerOptions extends DaemonCommandOptions {
  readonly for?: DecisionScope;
  readonly offer?: string;
  readonly answer?: readonly string[];
  readonly content?: string;
  readonly reason?: string;
  readonly stop?: boolean;
}

/** Implements `codexkit inbox approve` and `decline`. */
export async function answerApprovals(
  isGranted: boolean,
  texts: readonly string[],
  options: AnswerOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const { signal, stdout } = context;
  const answers: (readonly [Approval, InboxAnswer])[] = [];
  // Prepare all answers before sending the first, so that nothing is sent if one is invalid.
  for (const text of texts) {
    const approval = await findApproval(client, text, signal);
    answers.push([approval, toAnswer(approval, isGranted, options)]);
  }
  for (const [{ id, request }, answer] of answers) {
    try {
      const answered = await client.answer(id, answer, { signal });
      if (context.json) printJson(context, answered);
      else
        stdout.write(
          `${isGranted ? "Approved" : "Declined"} ${id}: ${revealLine(summarizeRequest(request))}\n`,
        );
    } catch (error) {
      if (!DaemonClientError.is(error) || error.code !== "already_answered") throw error;
      throw new CliError(EXIT.failed, `${id} has already been answered: ${error.problem?.detail ?? ""}`, {
        cause: error,
      });
    }
  }
}

function toAnswer(approval: Approval, isGranted: boolean, options: AnswerOptions): InboxAnswer {
  const { request } = approval;
  rejectUnsuitable(request.kind, options);
  if (request.kind === "userInput") {
    if (!isGranted)
      throw usageError("A question can't be declined.", "Answer it with `codexkit inbox approve --answer`.");
    return {
      type: "answers",
      answers: parseAnswers(
        options.answer ?? [],
        request.questions.map(({ id }) => id),
      ),
    };
  }
  if (request.kind === "elicitation") {
    if (!isGranted) return { type: "elicitation", action: options.stop ? "cancel" : "decline" };
    return {
      type: "elicitation",
      action: "accept",
      ...(options.content !== undefined && { content: parseContent(options.content) }),
    };
  }
  const { id } = chooseOffer(approval, isGranted, options);
  return { type: "decision", offer: id, ...(options.reason !== undefined && { reason: options.reason }) };
}

/**
 * Rejects an option that does not apply to this kind of request: the user probably expects a different kind.
 */
function rejectUnsuitable(kind: Approval["request"]["kind"], options: AnswerOptions): void {
  const isQuestion = kind === "userInput";
  const isForm = kind === "elicitation";
  const unsuitable = [
    ...(isQuestion ? [] : (["answer"] as const)),
    ...(isForm ? [] : (["content"] as const)),
    ...(isQuestion || isForm ? (["for", "offer", "reason"] as const) : []),
  ].find((name) => options[name] !== undefined);
  if (unsuitable === undefined) return;
  const what = isQuestion ? "a question" : isForm ? "a form" : "an approval";
  throw usageError(
    `--${unsuitable} can't be used to answer ${what}.`,
    "Run `codexkit inbox show` to see the request.",
  );
}

function chooseOffer({ offers }: Approval, isGranted: boolean, options: AnswerOptions): ApprovalOffer {
  const names = offers.map(({ id }) => id).join(", ");
  const fitting = offers.filter(({ accepts }) => accepts === isGranted);
  if (options.offer !== undefined) {
    const named = fitting.find(({ id }) => id === options.offer);
    if (named) return named;
    throw usageError(`Unknown offer "${revealLine(options.offer)}".`, `Offers: ${names}.`);
  }
  const { for: scope, stop = false } = options;
  // By default, the offer with the smallest scope. `cancel` is the offer that stops the turn.
  const wanted = isGranted
    ? fitting.find((offer) => (scope === undefined ? true : offer.scope === scope))
    : fitting.find(({ id }) => id === (stop ? "cancel" : "decline"));
  if (wanted) return wanted;
  throw usageError(
    `There is no offer ${scope === undefined ? "like this" : `for "${scope}"`}.`,
    `Offers: ${names}.`,
  );
}

function parseAnswers(given: readonly string[], questions: readonly string[]): Record<string, string[]> {
  const answers: Record<string, string[]> = {};
  for (const text of given) {
    const [, id, answer = ""] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
    if (id === undefined || !questions.includes(id)) {
      throw usageError(
        `"${revealLine(text)}" is not an answer.`,
        `Expected QUESTION=TEXT. Questions: ${questions.join(", ")}.`,
      );
    }
    (answers[id] ??= []).push(answer);
  }
  if (given.length === 0) {
    throw usageError(
      "A question needs an answer.",
      `Pass --answer QUESTION=TEXT. Questions: ${questions.join(", ")}.`,
    );
  }
  return answers;
}

function parseContent(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`--content is not JSON: ${(error as Error).message}.`);
  }
}
