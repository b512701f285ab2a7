import { confirm, isCancel, password, select, text } from "@clack/prompts";
import type { Approval, InboxAnswer, InboxRequest } from "@codexkit/daemon/client";
import { revealLine, revealText } from "../terminal/sanitize.ts";

interface PromptStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Closes the prompt: the approval was answered elsewhere or withdrawn. */
  readonly signal: AbortSignal;
}

/** Asks a person about an approval. Undefined if they don't decide. */
export async function promptApproval(
  approval: Approval,
  streams: PromptStreams,
): Promise<InboxAnswer | undefined> {
  const { request } = approval;
  if (request.kind === "userInput") return promptQuestions(request, streams);
  if (request.kind === "elicitation") return promptForm(request, streams);
  const picked = await select<string>({
    message: "Allow this?",
    options: [
      ...approval.offers.map(({ id, label, stores }) => ({
        value: id,
        label: revealLine(label),
        ...(stores !== null && { hint: revealLine(stores) }),
      })),
      { value: "", label: "Decide later" },
    ],
    ...streams,
  });
  return isCancel(picked) || picked === "" ? undefined : { type: "decision", offer: picked };
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
    let answer: string | symbol = "";
    if (choices.length > 0) answer = await select({ message, options: [...choices, ...other], ...streams });
    if (answer === "") answer = await (isSecret ? password : text)({ message, ...streams });
    if (isCancel(answer)) return undefined;
    answers[id] = [String(answer)];
  }
  return { type: "answers", answers };
}

/** Forms with fields are for programs and the console; here they can be sent as JSON. */
async function promptForm(
  { schema, mode }: Extract<InboxRequest, { kind: "elicitation" }>,
  streams: PromptStreams,
): Promise<InboxAnswer | undefined> {
  if (mode !== "form" || schema === null || schema === undefined) {
    const answer = await confirm({ message: "Accept?", ...streams });
    if (isCancel(answer)) return undefined;
    return { type: "elicitation", action: answer ? "accept" : "decline" };
  }
  const json = await text({
    message: "The contents as JSON (empty declines)",
    validate: (value) => (isJson(value ?? "") ? undefined : "This is not JSON."),
    ...streams,
  });
  if (isCancel(json)) return undefined;
  if (!json) return { type: "elicitation", action: "decline" };
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
