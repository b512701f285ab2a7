import type { Approval, InboxAnswer } from "@codexkit/daemon/client";
import {
  createEffect,
  createMemo,
  createSignal,
  createUniqueId,
  type JSX,
  Match,
  on,
  Show,
  Suspense,
  Switch,
} from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { formatDuration } from "../ui/index.ts";
import { ApprovalActions } from "./approval-actions.tsx";
import { ApprovalLine } from "./approval-line.tsx";
import { answeringOf } from "./answering.ts";
import { type CardAction, cardActions, type CardKey, isAccepting } from "./card-actions.ts";
import { createCardGate } from "./create-card-gate.ts";
import { createConfirmation } from "./create-confirmation.ts";
import { formatCountdown, isAnswerable } from "./describe-outcome.ts";
import { isOfAgent, titleOf } from "./describe-request.ts";
import { ElicitationActions, QuestionActions } from "./lazy-forms.ts";
import { permissionView, toGrant } from "./permission-rows.ts";
import { narrow, RequestBody } from "./request-body.tsx";
import { isFlagged } from "./segment-rows.ts";
import "./approvals.css";

export interface ApprovalCardProps {
  readonly approval: Approval;
  /** Where the card is shown. In the inbox, it names its session. */
  readonly place: "inbox" | "transcript";
  /** Name of the agent that asks, if it is known. */
  readonly agentName?: string | undefined;
  /** Called when the daemon has received an answer of this page. */
  readonly onAnswered?: (() => void) | undefined;
  /** Content below the decisions, such as a button that answers similar requests. */
  readonly more?: JSX.Element;
}

/**
 * Shows the information for a decision about a request, and the offered decisions. After the answer, it is reduced to one line.
 * Pass the newest state of the same approval as `approval`. The input is kept by its ID.
 */
export function ApprovalCard(props: ApprovalCardProps) {
  const answering = createMemo(() => answeringOf(props.approval.id));
  // The response arrives before the new state in the feed.
  const newest = (): Approval => {
    const status = answering().status();
    return status.type === "answered" && isAnswerable(props.approval) ? status.approval : props.approval;
  };
  // The daemon decides when a request expires, because the clock of this device may be wrong.
  const isOpen = createMemo(() => isAnswerable(newest()));
  return (
    <Show
      when={isOpen()}
      fallback={<ApprovalLine approval={newest()} answering={answering()} place={props.place} />}
    >
      <OpenCard {...props} />
    </Show>
  );
}

function OpenCard(props: ApprovalCardProps) {
  const { client, session, clock, can } = useDaemon();
  const titleId = createUniqueId();
  const answering = createMemo(() => answeringOf(props.approval.id));
  const settings = () => session(props.approval.sessionId)?.settings;
  const confirmation = createConfirmation();
  const [isDiffOpen, setIsDiffOpen] = createSignal(true);
  // What was not in view can't be allowed. Bodies without a long text have no end to see.
  const [isEndSeen, setIsEndSeen] = createSignal(!hasLongText(props.approval.request));
  let card!: HTMLElement;
  const gate = createCardGate(() => card);

  const isSending = () => answering().status().type === "sending";
  const isReady = () => gate.isSettled() && !isSending();
  const canAnswer = () => can("approve");
  const grant = createMemo(() => {
    const { request } = props.approval;
    if (request.kind !== "permissions") return "whole" as const;
    return toGrant(permissionView(request.permissions).rows, new Set(answering().draft().ticked));
  });

  async function submit(answer: InboxAnswer, text?: string): Promise<void> {
    if (!canAnswer() || isSending()) return;
    await answering().submit(client, props.approval, answer, text);
    if (answering().status().type === "answered") props.onAnswered?.();
  }

  async function decide({ offer }: CardAction): Promise<void> {
    const granted = offer.accepts ? grant() : "whole";
    if (granted === "nothing" || (offer.accepts && !isEndSeen())) return;
    const reason = offer.accepts || offer.id === "cancel" ? "" : answering().draft().reason.trim();
    await submit(
      {
        type: "decision",
        offer: offer.id,
        ...(reason !== "" && { reason }),
        ...(granted !== "whole" && { grant: granted }),
      },
      can("write") ? reason : "",
    );
  }

  function act(action: CardAction): void {
    if (!isReady()) return;
    const { offer, opens } = action;
    if (offer.accepts && !isEndSeen()) return;
    if (opens) {
      answering().update({ open: { panel: opens, offerId: offer.id } });
      return;
    }
    if (offer.accepts && isFlagged(props.approval.verdict) && !confirmation.confirms(offer.id)) return;
    void decide(action);
  }

  function closePanel(): void {
    answering().update({ open: null });
    card.focus({ preventScroll: true });
  }

  function handleKey(event: KeyboardEvent): void {
    if (event.key === "Escape" && answering().draft().open) {
      event.preventDefault();
      event.stopPropagation();
      closePanel();
      return;
    }
    // Enter is often pressed by mistake, so it never allows a request.
    if (event.key === "Enter" && (event.target as HTMLElement).dataset["accepts"] === "true") {
      event.preventDefault();
      return;
    }
  }

  /** Presses the button of a key. Returns false if other bindings may handle the key. */
  function pressKey(meaning: CardKey, event: KeyboardEvent): boolean {
    const action = cardActions(props.approval).find(({ key }) => key === meaning);
    if (!action || !canAnswer() || answering().draft().open) return false;
    if (gate.admits(event)) act(action);
    return true;
  }

  useKeys(
    "approval",
    {
      "approval.once": (event) => pressKey("once", event),
      "approval.session": (event) => pressKey("session", event),
      "approval.always": (event) => pressKey("always", event),
      "approval.decline": (event) => pressKey("decline", event),
      "approval.diff": (event) => toggleDiff(event),
    },
    () => card,
  );

  function toggleDiff(event: KeyboardEvent): boolean {
    if (props.approval.kind !== "fileChange" || !gate.admits(event)) return false;
    setIsDiffOpen((isShown) => !isShown);
    return true;
  }

  // An opened panel receives the focus, because the button that opened it is removed.
  createEffect(
    on(
      () => answering().draft().open,
      (open) => {
        if (open) card.querySelector<HTMLElement>("[data-autofocus]")?.focus({ preventScroll: true });
      },
      { defer: true },
    ),
  );

  return (
    <article
      ref={(element) => {
        card = element;
      }}
      class="approval"
      classList={{ "approval-unsettled": !gate.isSettled() }}
      id={`approval-${props.approval.id}`}
      data-approval={props.approval.id}
      data-kind={props.approval.kind}
      tabindex="0"
      aria-labelledby={titleId}
      onKeyDown={handleKey}
      onFocusIn={(event) => gate.handleFocus(event)}
      onFocusOut={(event) => {
        if (!card.contains(event.relatedTarget as Node | null)) confirmation.forget();
      }}
    >
      <header class="approval-head">
        <h3 id={titleId}>{titleOf(props.approval.request)}</h3>
        <Show when={isOfAgent(props.approval, session(props.approval.sessionId))}>
          <span class="approval-agent">asked by {props.agentName ?? "a subagent"}</span>
        </Show>
        <span class="approval-times">
          <Show when={props.approval.state === "parked"}>
            <span class="approval-parked">parked · </span>
          </Show>
          asked {formatDuration(Math.max(1000, clock() - props.approval.createdAt))} ago
          <Show when={props.approval.expiresAt}>
            {(expiresAt) => <> · expires in {formatCountdown(expiresAt() - clock())}</>}
          </Show>
        </span>
      </header>
      <div class="approval-body">
        <RequestBody
          approval={props.approval}
          answering={answering()}
          settings={settings()}
          isReadOnly={!canAnswer() || isSending()}
          isDiffOpen={isDiffOpen()}
          onToggleDiff={() => setIsDiffOpen((isShown) => !isShown)}
          onSeen={() => setIsEndSeen(true)}
        />
      </div>
      <footer class="approval-footer">
        <SendProblem
          approval={props.approval}
          isReady={isReady()}
          onRetry={() => void answering().retry(client, props.approval)}
        />
        <Show
          when={canAnswer()}
          fallback={<p class="approval-note">This browser may read, but not answer requests.</p>}
        >
          <div class="approval-actions">
            <Suspense>
              <Switch
                fallback={
                  <ApprovalActions
                    approval={props.approval}
                    answering={answering()}
                    isReady={isReady()}
                    canGrant={grant() !== "nothing" && isEndSeen()}
                    confirming={confirmation.offerId()}
                    onAct={act}
                    onConfirm={(action) => void decide(action)}
                    onBack={closePanel}
                  />
                }
              >
                <Match when={narrow(props.approval.request, "userInput")}>
                  {(request) => (
                    <QuestionActions
                      request={request()}
                      answering={answering()}
                      isReady={isReady()}
                      onAnswer={(answer) => void submit(answer)}
                    />
                  )}
                </Match>
                <Match when={narrow(props.approval.request, "elicitation")}>
                  {(request) => (
                    <ElicitationActions
                      request={request()}
                      answering={answering()}
                      isReady={isReady()}
                      onAnswer={(answer) => void submit(answer)}
                    />
                  )}
                </Match>
              </Switch>
            </Suspense>
          </div>
          {props.more}
        </Show>
      </footer>
    </article>
  );
}

/** Whether the body reports when its end has been in view. */
function hasLongText(request: Approval["request"]): boolean {
  if (request.kind === "command") return Boolean(request.command);
  return request.kind === "mcpTool" && request.arguments !== null && request.arguments !== undefined;
}

/** The reason why an answer could not be sent, with a button to retry. */
function SendProblem(props: {
  readonly approval: Approval;
  readonly isReady: boolean;
  readonly onRetry: () => void;
}) {
  const answering = () => answeringOf(props.approval.id);
  const status = () => answering().status();
  const isRetryAccepting = () => {
    const { sent } = answering().draft();
    return sent !== null && isAccepting(props.approval, sent.answer);
  };
  return (
    <Switch>
      <Match when={status().type === "sending"}>
        <p class="approval-note" role="status">
          Sending…
        </p>
      </Match>
      <Match when={status().type === "failed" && status()}>
        {(failed) => (
          <p class="approval-note approval-alert" role="alert">
            Not sent: {(failed() as { detail: string }).detail}{" "}
            <button
              type="button"
              class="button"
              data-accepts={isRetryAccepting()}
              aria-disabled={!props.isReady}
              onClick={() => props.onRetry()}
            >
              Send again
            </button>
          </p>
        )}
      </Match>
    </Switch>
  );
}
