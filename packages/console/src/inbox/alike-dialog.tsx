import type { Approval, ApprovalOffer } from "@codexkit/daemon/client";
import { createMemo, createSignal, For, onCleanup, onMount } from "solid-js";
import { answeringOf } from "../approvals/answering.ts";
import { ARM_MS } from "../approvals/arm-gate.ts";
import { sessionName, titleOf } from "../approvals/describe-request.ts";
import { RequestBody } from "../approvals/request-body.tsx";
import { useDaemon } from "../feed/index.ts";
import { announce, Dialog } from "../ui/index.ts";

/** Shows requests of the same kind and rule completely, and answers all of them with one decision. */
export function AlikeDialog(props: { readonly approvals: readonly Approval[]; readonly close: () => void }) {
  const { client, session, inbox } = useDaemon();
  const [isArmed, setArmed] = createSignal(false);
  let back!: HTMLButtonElement;
  // Requests that arrive later are not included, because the user has not read them.
  const { approvals } = props;
  const waiting = createMemo(() => approvals.filter(({ id }) => inbox().some((open) => open.id === id)));
  const decisions = (): readonly ApprovalOffer[] =>
    approvals[0]?.offers.filter(({ scope, id }) => scope !== "always" && id !== "cancel") ?? [];

  onMount(() => {
    back.focus();
    const timer = setTimeout(() => setArmed(true), ARM_MS);
    onCleanup(() => clearTimeout(timer));
  });

  async function answerAll(offer: ApprovalOffer): Promise<void> {
    if (!isArmed()) return;
    const chosen = waiting();
    props.close();
    const statuses = await Promise.all(
      chosen.map(async (approval) => {
        const answering = answeringOf(approval.id);
        await answering.submit(client, approval, { type: "decision", offer: offer.id });
        return answering.status().type;
      }),
    );
    const answered = statuses.filter((status) => status === "answered").length;
    const others = statuses.length - answered;
    // The cards show the outcome of the other requests.
    announce(`${answered} answered${others === 0 ? "" : `, ${others} not`}`);
  }

  return (
    <Dialog label="Answer requests alike" class="alike" close={props.close}>
      <h1>
        Answer {waiting().length} {waiting().length === 1 ? "request" : "requests"} alike
      </h1>
      <p class="muted">
        The policy asks about all of them because of <code>{approvals[0]?.verdict?.rule}</code>. Each gets
        this answer as its own.
      </p>
      <ol class="alike-list" tabindex="0" aria-label="Requests">
        <For each={waiting()}>
          {(approval) => (
            <li>
              <h2>
                {titleOf(approval.request)}{" "}
                <span class="muted">{sessionName(session(approval.sessionId), approval.sessionId)}</span>
              </h2>
              <div class="approval-body">
                <RequestBody
                  approval={approval}
                  answering={answeringOf(approval.id)}
                  settings={session(approval.sessionId)?.settings}
                  isReadOnly
                  isDiffOpen
                  onToggleDiff={() => {}}
                />
              </div>
            </li>
          )}
        </For>
      </ol>
      <div class="approval-buttons">
        <button type="button" class="button button-quiet" ref={back} onClick={() => props.close()}>
          Back
        </button>
        <For each={decisions()}>
          {(offer) => (
            <button
              type="button"
              class="button"
              classList={{ "button-danger": !offer.accepts }}
              aria-disabled={!isArmed()}
              disabled={waiting().length === 0}
              onKeyDown={(event) => {
                // Enter never allows a request, as on cards.
                if (event.key === "Enter" && offer.accepts) event.preventDefault();
              }}
              onClick={() => void answerAll(offer)}
            >
              {labelOf(offer)}
            </button>
          )}
        </For>
      </div>
    </Dialog>
  );
}

function labelOf({ accepts, scope }: ApprovalOffer): string {
  if (!accepts) return "Decline all";
  return scope === "session" ? "Allow all for their sessions" : "Allow all once";
}
