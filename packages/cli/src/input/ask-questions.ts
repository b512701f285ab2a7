import type { v2 } from "codexkit";
import { revealText } from "../terminal/sanitize.ts";
import { askChoice, askText, type PromptStreams } from "./prompts.ts";

/** Asks the agent's questions. Returns the answers by question ID, or undefined if a prompt was cancelled. */
export async function askQuestions(
  questions: readonly v2.ToolRequestUserInputQuestion[],
  streams: PromptStreams,
): Promise<Record<string, string> | undefined> {
  const answers: [id: string, answer: string][] = [];
  for (const { id, question, options, isOther, isSecret } of questions) {
    const message = revealText(question);
    const choices = (options ?? []).map(({ label, description }) => ({
      value: label,
      label: revealText(label),
      hint: revealText(description),
    }));
    const other = isOther ? [{ value: "", label: "Something else" }] : [];
    let answer: string | undefined = "";
    if (choices.length > 0 && !isSecret) {
      answer = await askChoice({ message, choices: [...choices, ...other] }, streams);
    }
    if (answer === "") answer = await askText({ message, isSecret }, streams);
    if (answer === undefined) return undefined;
    answers.push([id, answer]);
  }
  return Object.fromEntries(answers);
}
