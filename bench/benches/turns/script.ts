import { say, type ScriptFunction } from "@codexkit/scripted-model";

/**
 * The prompt of a turn. The model chooses its answer by it, so that one model serves every row and every
 * contestant.
 */
export type Prompt = "answer" | "stream";

/** Number of deltas of the long answer. */
export const DELTAS = 5_000;

/** The deltas of each answer: a sentence, and a long text in pieces as small as a model's tokens. */
const PIECES: Readonly<Record<Prompt, readonly string[]>> = {
  answer: "The test fails because the loader drops unknown keys; keep them, and it passes.".split(/(?<= )/),
  stream: Array.from({ length: DELTAS }, (_, index) => ` word${index}`),
};

export const script: ScriptFunction = ({ lastUserText }) =>
  lastUserText === "answer" || lastUserText === "stream" ? say(PIECES[lastUserText]) : undefined;

const EXPECTED: Readonly<Record<Prompt, string>> = {
  answer: PIECES.answer.join(""),
  stream: PIECES.stream.join(""),
};

/** Compares a turn with its script: a contestant that lost a part of the answer did not do the work. */
export function checkResponse(prompt: Prompt, responseText: string): void {
  if (responseText === EXPECTED[prompt]) return;
  const begin = JSON.stringify(responseText.slice(0, 100));
  throw new Error(`a turn said ${begin} (${responseText.length} characters) instead of its script`);
}
