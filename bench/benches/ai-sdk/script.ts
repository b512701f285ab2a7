import { pause, say, type ScriptFunction } from "@codexkit/scripted-model";

/** How long the model takes over a slow answer. */
const SLOW_MS = 200;

const ANSWER = "The test fails because the loader drops unknown keys; keep them, and it passes.".split(
  /(?<= )/,
);

/** What a call asks for: an answer at once, which leaves the client's share in view, or one as models give it. */
export type Question = "at once" | "slowly";

/** What a call is asked. Each has words of its own, so that an answer that went to the wrong call is seen. */
export function question(kind: Question, call: number): string {
  return `${kind}: ${call}`;
}

export const script: ScriptFunction = ({ lastUserText }) => {
  // Some providers write a name before the words.
  const [asked, kind] = /(at once|slowly): \d+$/.exec(lastUserText) ?? [];
  if (asked === undefined) return undefined;
  const answer = say([...ANSWER, asked]);
  return kind === "slowly" ? [pause(SLOW_MS), answer] : answer;
};

/** Holds a call to the answer to its own question. */
export function checkAnswer(kind: Question, call: number, responseText: string): void {
  if (responseText === `${ANSWER.join("")}${question(kind, call)}`) return;
  throw new Error(
    `call ${call} was answered ${JSON.stringify(responseText.slice(0, 200))}, not by its script`,
  );
}
