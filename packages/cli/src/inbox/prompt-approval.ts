import type { Approval, InboxAnswer, InboxRequest } from "@codexkit/daemon/client";
import { askChoice, askText, type PromptStreams } from "../input/prompts.ts";
import { revealLine, revealText } from "../terminal/sanitize.ts";

/** Asks a person about an approval. Undefined if they don't decide. */
export async function promptApproval(
  approval: Approval,
  streams: PromptStreams,
): Promise<InboxAnswer | undefined> {
  const { request } = approval;
  if (request.kind === "userInput") return promptQuestions(request, streams);
  if (request.kind === "elicitation") return promptForm(request, streams);
  const picked = await askChoice(
    {
      message: "Allow this?",
      choices: [
        ...approval.offers.map(({ id, label, stores }) => ({
          value: id,
          label: revealLine(label),
          ...(stores !== null && { hint: revealLine(stores) }),
        })),
        { value: "", label: "Decide later" },
      ],
      initial: approval.offers.find(({ accepts }) => !accepts)?.id ?? "",
    },
    streams,
  );
  return picked === undefined || picked === "" ? undefined : { type: "decision", offer: picked };
}

async function promptQuestions(
  { questions }: Extract<InboxRequest, { kind: "userInput" }>,
  streams: PromptStreams,
): Promise<InboxAnswer | undefined> {
  const answers: Record<string, string[]> = {};
  for (const { id, question, options, isOther, isSecret } of questions) {
    const message = revealText(question);
    const choices = (options ?? []).map(({ label, description }) => ({
      value: label,
      label: revealText(label),
      hint: revealText(description),
    }));
    const other = isOther ? [{ value: "", label: "Something else" }] : [];
    let answer: string | undefined = "";
    if (choices.length > 0) answer = await askChoice({ message, choices: [...choices, ...other] }, streams);
    if (answer === "") answer = await askText({ message, isSecret }, streams);
    if (answer === undefined) return undefined;
    answers[id] = [answer];
  }
  return { type: "answers", answers };
}

/** Forms with fields are for programs and the console; here they can be sent as JSON. */
async function promptForm(
  { schema, mode }: Extract<InboxRequest, { kind: "elicitation" }>,
  streams: PromptStreams,
): Promise<InboxAnswer | undefined> {
  if (mode !== "form" || schema === null || schema === undefined) {
    const action = await askChoice(
      {
        message: "Accept?",
        choices: [
          { value: "accept", label: "Yes" },
          { value: "decline", label: "No" },
        ],
        initial: "decline",
      },
      streams,
    );
    if (action === undefined) return undefined;
    return { type: "elicitation", action: action === "accept" ? "accept" : "decline" };
  }
  const json = await askText(
    {
      message: "The contents as JSON (empty declines)",
      validate: (value) => (isJson(value ?? "") ? undefined : "This is not JSON."),
    },
    streams,
  );
  if (json === undefined) return undefined;
  if (json === "") return { type: "elicitation", action: "decline" };
  return { type: "elicitation", action: "accept", content: JSON.parse(json) as unknown };
}

function isJson(value: string): boolean {
  if (value === "") return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
