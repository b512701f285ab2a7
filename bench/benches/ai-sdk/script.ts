import { pause, say, type ScriptFunction } from "@codexkit/scripted-model";

/** How long the model takes for a slow answer. */
const SLOW_MS = 200;

const ANSWER = "The test fails because the loader drops unknown keys; keep them, and it passes.".split(
  /(?<= )/,
);

/**
 * The kind of answer that a call asks for: an immediate one, which shows the client's share, or one at the
 * speed of a real model.
 */
export type Question = "at once" | "slowly";

/**
 * The question of a call. Each has a different text, so that an answer that went to the wrong call is
 * detected.
 */
export function question(kind: Question, call: number): string {
  return `${kind}: ${call}`;
}

export const script: ScriptFunction = ({ lastUserText }) => {
  // Some providers put a name before the text.
  const [asked, kind] = /(at once|slowly): \d+$/.exec(lastUserText) ?? [];
  if (asked === undefined) return undefined;
  const answer = say([...ANSWER, asked]);
  return kind === "slowly" ? [pause(SLOW_MS), answer] : answer;
};

/** Checks that a call got the answer to its own question. */
export function checkAnswer(kind: Question, call: number, responseText: string): void {
  if (responseText === `${ANSWER.join("")}${question(kind, call)}`) return;
  throw new Error(
    `call ${call} was answered ${JSON.stringify(responseText.slice(0, 200))}, not by its script`,
  );
}
