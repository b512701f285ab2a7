import type { Approval, InboxAnswer } from "@codexkit/daemon/client";
import { askForm } from "../input/ask-form.ts";
import { askQuestions } from "../input/ask-questions.ts";
import { askChoice, type PromptStreams } from "../input/prompts.ts";
import { revealLine } from "../terminal/sanitize.ts";

/** Asks the user about an approval. Undefined if the prompt was cancelled or withdrawn. */
export async function promptApproval(
  { request, offers }: Approval,
  streams: PromptStreams,
): Promise<InboxAnswer | "later" | undefined> {
  if (request.kind === "userInput") {
    const answers = await askQuestions(request.questions, streams);
    return answers && { type: "answers", answers };
  }
  if (request.kind === "elicitation") {
    const answer = await askForm(request, streams);
    return answer && { type: "elicitation", ...answer };
  }
  const picked = await askChoice(
    {
      message: "Allow this?",
      choices: [
        ...offers.map(({ id, label, stores }) => ({
          value: id,
          label: revealLine(label),
          ...(stores !== null && { hint: revealLine(stores) }),
        })),
        { value: "", label: "Decide later" },
      ],
      initial: offers.find(({ accepts }) => !accepts)?.id ?? "",
    },
    streams,
  );
  if (picked === "") return "later";
  return picked === undefined ? undefined : { type: "decision", offer: picked };
}
