import { expect, it } from "vitest";
import { EMPTY_DRAFT, optionsOf, type Question, takesText, toAnswers } from "./question-answers.ts";

const choice: Question = {
  id: "colour",
  header: "Colour",
  question: "Which colour?",
  isOther: false,
  isSecret: false,
  options: [{ label: "blue", description: "as the sky" }],
};
const secret: Question = { ...choice, id: "key", isSecret: true };
const free: Question = { ...choice, id: "why", options: null };

it("offers a text field if there are no options, other answers are allowed, or the answer is secret", () => {
  expect([choice, secret, free, { ...choice, isOther: true }].map((question) => takesText(question))).toEqual(
    [false, true, true, true],
  );
  expect(optionsOf(secret)).toEqual([]);
  expect(optionsOf(choice)).toHaveLength(1);
});

it("has no answers until every question has one", () => {
  const drafts: Record<string, { option: string | null; text: string }> = {
    colour: { option: "blue", text: "" },
  };
  const draftOf = ({ id }: Question) => drafts[id] ?? EMPTY_DRAFT;
  expect(toAnswers([choice, free], draftOf)).toBeUndefined();
  drafts["why"] = { option: null, text: "because" };
  expect(toAnswers([choice, free], draftOf)).toEqual({
    type: "answers",
    answers: { colour: ["blue"], why: ["because"] },
  });
});

it("sends the chosen option instead of previously typed text", () => {
  expect(toAnswers([choice], () => ({ option: "blue", text: "green" }))).toEqual({
    type: "answers",
    answers: { colour: ["blue"] },
  });
});
