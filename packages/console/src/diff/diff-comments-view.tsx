import type { DaemonClient } from "@codexkit/daemon/client";
import { For, onMount, Show } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import type { CommentPlace, DiffComments } from "./diff-comments.ts";

function isSamePlace(one: CommentPlace | null, other: CommentPlace): boolean {
  return one !== null && one.path === other.path && one.side === other.side && one.line === other.line;
}

/** The comments on a line, and the editor of a new one. */
export function LineComments(props: {
  readonly comments: DiffComments;
  readonly place: CommentPlace;
  readonly onClose: () => void;
}) {
  const own = () => props.comments.comments().filter((comment) => isSamePlace(comment, props.place));
  return (
    <Show when={own().length > 0 || isSamePlace(props.comments.editing(), props.place)}>
      <div class="diff-comments" role="cell">
        <For each={own()}>
          {({ id, text }) => (
            <div class="diff-comment">
              <p>{text}</p>
              <button
                type="button"
                class="button button-quiet"
                aria-label={`Remove the comment on line ${props.place.line}`}
                onClick={() => props.comments.remove(id)}
              >
                Remove
              </button>
            </div>
          )}
        </For>
        <Show when={isSamePlace(props.comments.editing(), props.place)}>
          <CommentEditor {...props} />
        </Show>
      </div>
    </Show>
  );
}

function CommentEditor(props: {
  readonly comments: DiffComments;
  readonly place: CommentPlace;
  readonly onClose: () => void;
}) {
  let field!: HTMLTextAreaElement;
  onMount(() => field.focus({ preventScroll: true }));

  function close(): void {
    props.comments.edit(null);
    props.onClose();
  }

  function save(): void {
    props.comments.save();
    props.onClose();
  }

  return (
    <div class="diff-editor">
      <textarea
        ref={(element) => {
          field = element;
        }}
        class="input"
        rows="3"
        aria-label={`Comment on ${props.place.path}, line ${props.place.line}`}
        value={props.comments.text()}
        onInput={(event) => props.comments.setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            close();
          }
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        }}
      />
      <div class="approval-buttons">
        <button type="button" class="button button-quiet" onClick={close}>
          Cancel
        </button>
        <button type="button" class="button button-primary" onClick={save}>
          Add the comment
        </button>
      </div>
    </div>
  );
}

/** The number of unsent comments, and the buttons that send them as one message. */
export function CommentBar(props: {
  readonly comments: DiffComments;
  readonly view: SessionView;
  readonly client: DaemonClient;
}) {
  const { can } = useDaemon();
  const count = () => props.comments.comments().length;
  const isRunning = () => ["running", "waiting"].includes(props.view.phase() ?? "");
  const send = (mode: "queue" | "steer") => void props.comments.send(props.client, props.view.id, mode);
  return (
    <Show when={count() > 0}>
      <div class="diff-send">
        <span role="status">{count() === 1 ? "1 comment" : `${count()} comments`} not sent yet</span>
        <Show when={props.comments.problem()}>
          {(problem) => (
            <span role="alert" class="form-error">
              Not sent: {problem()}
            </span>
          )}
        </Show>
        <Show when={can("write")} fallback={<span class="muted">This browser may not send messages.</span>}>
          <span class="approval-buttons">
            <Show when={isRunning()}>
              <button
                type="button"
                class="button"
                disabled={props.comments.isSending()}
                onClick={() => send("queue")}
              >
                Send after this turn
              </button>
            </Show>
            <button
              type="button"
              class="button button-primary"
              disabled={props.comments.isSending()}
              onClick={() => send(isRunning() ? "steer" : "queue")}
            >
              {isRunning() ? "Send now" : "Send to the agent"}
            </button>
          </span>
        </Show>
      </div>
    </Show>
  );
}
