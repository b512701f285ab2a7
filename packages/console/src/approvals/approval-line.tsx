import type { Approval } from "@codexkit/daemon/client";
import { createSignal, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import type { Answering } from "./answering.ts";
import { describeOutcome, isAnswerable } from "./describe-outcome.ts";
import { sessionName, summarize, titleOf } from "./describe-request.ts";
import { RequestBody } from "./request-body.tsx";

/** An answered or ended request as one line, which can be expanded to show the request. */
export function ApprovalLine(props: {
  readonly approval: Approval;
  readonly answering: Answering;
  readonly place: "inbox" | "transcript";
}) {
  const { identity, session, client } = useDaemon();
  const [isOpen, setIsOpen] = createSignal(false);
  const outcome = () =>
    describeOutcome(props.approval, identity()) ?? {
      text: isAnswerable(props.approval) ? "Expired" : "Ended",
      tone: "ended" as const,
    };
  const status = () => props.answering.status();
  const messageProblem = () => {
    const current = status();
    return current.type === "answered" ? current.messageProblem : null;
  };

  return (
    <article class="approval-done" id={`approval-${props.approval.id}`} data-tone={outcome().tone}>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>
          <span class="approval-done-what">
            {titleOf(props.approval.request)}: <code>{summarize(props.approval.request)}</code>
          </span>
          <span class="approval-outcome">{outcome().text}</span>
          <time class="approval-times" dateTime={new Date(endOf(props.approval)).toISOString()}>
            {new Date(endOf(props.approval)).toLocaleString()}
          </time>
        </summary>
        <Show when={isOpen()}>
          <div class="approval-body">
            <Show when={props.place === "inbox"}>
              <p class="approval-note">
                <a
                  href={toHref(
                    `/s/${props.approval.sessionId}#${encodeURIComponent(`approval/${props.approval.id}`)}`,
                  )}
                >
                  {sessionName(session(props.approval.sessionId), props.approval.sessionId)}
                </a>
              </p>
            </Show>
            <RequestBody
              approval={props.approval}
              answering={props.answering}
              settings={session(props.approval.sessionId)?.settings}
              isReadOnly
              isDiffOpen
              onToggleDiff={() => {}}
            />
            <Show when={reasonOf(props.approval)}>
              {(reason) => <p class="approval-note">Reason: {reason()}</p>}
            </Show>
          </div>
        </Show>
      </details>
      <Show when={status().type === "lost"}>
        <p class="approval-note approval-alert" role="alert">
          Your answer came too late and was not used. {(status() as { detail: string }).detail}
        </p>
      </Show>
      <Show when={messageProblem()}>
        {(problem) => (
          <p class="approval-note approval-alert" role="alert">
            The agent did not get your message: {problem()}{" "}
            <button
              type="button"
              class="button"
              onClick={() => void props.answering.retry(client, props.approval)}
            >
              Send again
            </button>
          </p>
        )}
      </Show>
    </article>
  );
}

function endOf({ answeredAt, createdAt }: Approval): number {
  return answeredAt ?? createdAt;
}

function reasonOf({ answer }: Approval): string | undefined {
  const reason = answer?.["reason"];
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}
