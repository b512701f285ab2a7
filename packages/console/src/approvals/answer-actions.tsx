import {
  checkField,
  type InboxAnswer,
  type InboxRequest,
  readFormFields,
  toContent,
} from "@codexkit/daemon/client";
import { createMemo, Show } from "solid-js";
import type { Answering } from "./answering.ts";
import { type ElicitationRequest, isWebPage, valueOf } from "./elicitation-body.tsx";
import { EMPTY_DRAFT, toAnswers } from "./question-answers.ts";

type QuestionsRequest = Extract<InboxRequest, { kind: "userInput" }>;

interface ActionProps {
  readonly answering: Answering;
  readonly isReady: boolean;
  readonly onAnswer: (answer: InboxAnswer) => void;
}

/** The button of questions. Codex does not allow to decline them. */
export function QuestionActions(props: ActionProps & { readonly request: QuestionsRequest }) {
  const answers = createMemo(() =>
    toAnswers(props.request.questions, ({ id }) => props.answering.draft().questions[id] ?? EMPTY_DRAFT),
  );
  return (
    <div class="approval-buttons approval-accepting">
      {/* Its space stays, because buttons that have moved ignore presses for a moment. */}
      <Show when={props.request.questions.length > 1}>
        <span class="approval-note" classList={{ "approval-blank": answers() !== undefined }}>
          Every question needs an answer.
        </span>
      </Show>
      <button
        type="button"
        class="button button-primary"
        aria-disabled={!props.isReady}
        disabled={answers() === undefined}
        onClick={() => {
          const complete = answers();
          if (complete) props.onAnswer(complete);
        }}
      >
        {props.request.questions.length === 1 ? "Send the answer" : "Send the answers"}
      </button>
    </div>
  );
}

/** The buttons of a form of an MCP server. */
export function ElicitationActions(props: ActionProps & { readonly request: ElicitationRequest }) {
  const fields = createMemo(() => readFormFields(props.request.schema));
  const hasForm = () => props.request.schema !== null && props.request.schema !== undefined;

  /** The contents to send, or undefined while they are not valid. */
  const content = createMemo((): { readonly value?: unknown } | undefined => {
    if (!hasForm()) return {};
    const known = fields();
    if (!known) return parseJson(props.answering.draft().json);
    const isValid = known.every((field) => checkField(field, valueOf(props.answering, field)) === undefined);
    return isValid ? { value: toContent(known, (field) => valueOf(props.answering, field)) } : undefined;
  });

  /** A URL that is not one of a page can't have been visited. */
  const isPage = () => props.request.url === null || isWebPage(props.request.url);

  function accept(): void {
    const valid = content();
    if (!valid || !isPage()) return;
    props.onAnswer({
      type: "elicitation",
      action: "accept",
      ...(valid.value !== undefined && { content: valid.value }),
    });
  }

  return (
    <>
      <div class="approval-buttons">
        <button
          type="button"
          class="button button-danger"
          aria-disabled={!props.isReady}
          onClick={() => props.onAnswer({ type: "elicitation", action: "decline" })}
        >
          Decline
        </button>
        <button
          type="button"
          class="button button-danger"
          aria-disabled={!props.isReady}
          onClick={() => props.onAnswer({ type: "elicitation", action: "cancel" })}
        >
          Cancel
        </button>
      </div>
      <div class="approval-buttons approval-accepting">
        <button
          type="button"
          class="button button-primary"
          data-accepts="true"
          aria-disabled={!props.isReady}
          disabled={content() === undefined || !isPage()}
          onClick={accept}
        >
          {hasForm() ? "Send the form" : props.request.url === null ? "Accept" : "I have visited the page"}
        </button>
      </div>
    </>
  );
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
