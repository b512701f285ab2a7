import type { Approval } from "@codexkit/daemon/client";
import { createMemo, For, Match, Show, Switch } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import type { Answering } from "./answering.ts";
import { type CardAction, cardActions, describeStored } from "./card-actions.ts";
import { VisibleText } from "../ui/visible-text-view.tsx";

const KEY_LABELS = { once: "A", session: "S", always: "⇧A", decline: "D" } as const;

/** The buttons of an approval's offers, or the panel that one of them opens first. */
export function ApprovalActions(props: {
  readonly approval: Approval;
  readonly answering: Answering;
  /**
   * False while no answer may be given, because the card has just appeared or an answer is being sent. Until then, buttons ignore
   * presses, but can be focused.
   */
  readonly isReady: boolean;
  readonly canGrant: boolean;
  /** The offer that was pressed once and needs a second press. */
  readonly confirming: string | null;
  readonly onAct: (action: CardAction) => void;
  /** Sends the offer whose panel is open. */
  readonly onConfirm: (action: CardAction) => void;
  readonly onBack: () => void;
}) {
  const { can } = useDaemon();
  // The buttons stay the same elements while the offers are, so that they keep the focus.
  const offers = createMemo(() => props.approval.offers);
  const actions = createMemo(() => cardActions({ offers: offers(), kind: props.approval.kind }));
  const opened = () => {
    const { open } = props.answering.draft();
    return open && actions().find(({ offer }) => offer.id === open.offerId);
  };

  return (
    <Switch
      fallback={
        <>
          <div class="approval-buttons">
            <For each={actions().filter(({ offer }) => !offer.accepts)}>
              {(action) => <ActionButton action={action} {...props} />}
            </For>
          </div>
          <div class="approval-buttons approval-accepting">
            <For each={actions().filter(({ offer }) => offer.accepts)}>
              {(action) => <ActionButton action={action} {...props} />}
            </For>
          </div>
        </>
      }
    >
      <Match when={opened()?.opens === "decline" && opened()}>
        {(action) => (
          <div class="approval-panel">
            <label class="field">
              <span>
                {can("write")
                  ? "Tell the agent what to do instead (optional)"
                  : "Reason (optional). The agent does not receive it, because this browser may not send messages."}
              </span>
              <textarea
                class="input"
                rows="2"
                data-autofocus
                value={props.answering.draft().reason}
                onInput={(event) => props.answering.update({ reason: event.currentTarget.value })}
                onKeyDown={(event) => {
                  if (event.key !== "Enter" || (!event.ctrlKey && !event.metaKey)) return;
                  event.preventDefault();
                  // Not a press that could have been meant for something else, and it only refuses.
                  if (!event.repeat) props.onConfirm(action());
                }}
              />
            </label>
            <div class="approval-buttons">
              <button type="button" class="button button-quiet" onClick={() => props.onBack()}>
                Back
              </button>
              <button
                type="button"
                class="button button-danger"
                aria-disabled={!props.isReady}
                onClick={() => props.onConfirm(action())}
              >
                Decline
              </button>
            </div>
          </div>
        )}
      </Match>
      <Match when={opened()?.opens === "always" && opened()}>
        {(action) => (
          <div class="approval-panel">
            <p>{describeStored(action(), props.approval.kind)}</p>
            <pre class="approval-stored" tabindex="0" role="group" aria-label="What is stored">
              <VisibleText text={action().offer.stores ?? action().offer.label} />
            </pre>
            <div class="approval-buttons">
              <button type="button" class="button button-quiet" data-autofocus onClick={() => props.onBack()}>
                Back
              </button>
              <button
                type="button"
                class="button button-primary"
                data-accepts={action().offer.accepts}
                aria-disabled={!props.isReady}
                onClick={() => props.onConfirm(action())}
              >
                {action().offer.accepts ? "Store and allow" : "Store and decline"}
              </button>
            </div>
          </div>
        )}
      </Match>
    </Switch>
  );
}

function ActionButton(props: {
  readonly action: CardAction;
  readonly isReady: boolean;
  readonly canGrant: boolean;
  readonly confirming: string | null;
  readonly onAct: (action: CardAction) => void;
}) {
  const isFirst = () => props.action.key === "once";
  const isConfirming = () => props.confirming === props.action.offer.id;
  return (
    <button
      type="button"
      class="button"
      classList={{
        "button-primary": isFirst(),
        "button-danger": !props.action.offer.accepts,
      }}
      data-accepts={props.action.offer.accepts}
      aria-disabled={!props.isReady}
      disabled={props.action.offer.accepts && !props.canGrant}
      aria-keyshortcuts={props.action.key === null ? undefined : shortcutOf(props.action.key)}
      onClick={() => props.onAct(props.action)}
    >
      {isConfirming() ? `${props.action.label}: press again` : props.action.label}
      <Show when={props.action.key}>
        {(key) => (
          <kbd class="key" aria-hidden="true">
            {KEY_LABELS[key()]}
          </kbd>
        )}
      </Show>
    </button>
  );
}

function shortcutOf(key: keyof typeof KEY_LABELS): string {
  return { once: "a", session: "s", always: "Shift+A", decline: "d" }[key];
}
