import type { InboxRequest } from "@codexkit/daemon/client";
import { For, Show } from "solid-js";
import type { Answering } from "./answering.ts";
import { EMPTY_DRAFT, optionsOf, type Question, type QuestionDraft, takesText } from "./question-answers.ts";
import { VisibleText } from "../ui/visible-text-view.tsx";

type QuestionsRequest = Extract<InboxRequest, { kind: "userInput" }>;

export function QuestionBody(props: {
  readonly request: QuestionsRequest;
  readonly approvalId: string;
  readonly answering: Answering;
  readonly isReadOnly: boolean;
}) {
  return (
    <>
      <For each={props.request.questions}>
        {(question) => (
          <QuestionField
            question={question}
            name={`${props.approvalId}-${question.id}`}
            answering={props.answering}
            isReadOnly={props.isReadOnly}
          />
        )}
      </For>
      <Show when={!props.request.isBlocking}>
        <p class="approval-note">Codex keeps working in the meantime.</p>
      </Show>
    </>
  );
}

function QuestionField(props: {
  readonly question: Question;
  readonly name: string;
  readonly answering: Answering;
  readonly isReadOnly: boolean;
}) {
  const draft = () => props.answering.draft().questions[props.question.id] ?? EMPTY_DRAFT;
  const options = () => optionsOf(props.question);

  function update(changes: Partial<QuestionDraft>): void {
    const { questions } = props.answering.draft();
    props.answering.update({
      questions: { ...questions, [props.question.id]: { ...draft(), ...changes } },
    });
  }

  return (
    <fieldset class="question" disabled={props.isReadOnly}>
      <legend>
        <Show when={props.question.header}>
          <span class="question-header">
            <VisibleText text={props.question.header} />
          </span>{" "}
        </Show>
        <VisibleText text={props.question.question} />
      </legend>
      <For each={options()}>
        {({ label, description }) => (
          <label class="check">
            <input
              type="radio"
              name={props.name}
              checked={draft().option === label}
              onChange={() => update({ option: label })}
            />
            <span>
              <VisibleText text={label} />
              <Show when={description}>
                <span class="muted">
                  {" "}
                  <VisibleText text={description} />
                </span>
              </Show>
            </span>
          </label>
        )}
      </For>
      <Show when={takesText(props.question)}>
        <Show
          when={options().length > 0}
          fallback={<AnswerInput question={props.question} draft={draft()} update={update} />}
        >
          <div class="check">
            <input
              type="radio"
              id={`${props.name}-other`}
              name={props.name}
              checked={draft().option === null && draft().text !== ""}
              onChange={() => update({ option: null })}
            />
            <label for={`${props.name}-other`}>Something else</label>
            <AnswerInput question={props.question} draft={draft()} update={update} />
          </div>
        </Show>
      </Show>
    </fieldset>
  );
}

function AnswerInput(props: {
  readonly question: Question;
  readonly draft: QuestionDraft;
  readonly update: (changes: Partial<QuestionDraft>) => void;
}) {
  return (
    <input
      class="input question-input"
      type={props.question.isSecret ? "password" : "text"}
      autocomplete="off"
      spellcheck={false}
      aria-label={`Your answer: ${props.question.question}`}
      value={props.draft.text}
      onInput={(event) => props.update({ option: null, text: event.currentTarget.value })}
    />
  );
}
