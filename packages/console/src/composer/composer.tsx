import { createSignal, createUniqueId, type JSX, lazy, Show, Suspense } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { Attachments } from "./attachments.tsx";
import { applyCompletion } from "./completion.ts";
import { composerAction, DOUBLE_ESCAPE_MS } from "./composer-keys.ts";
import { type ComposerState, createComposer } from "./create-composer.ts";
import { createSuggestions } from "./create-suggestions.ts";
import type { PlannedCommand } from "./plan-command.ts";
import { QueueList } from "./queue-list.tsx";
import { runCommand } from "./lazy-commands.ts";
import { SettingsMenus } from "./settings-menus.tsx";
import { SUGGESTION_LIST_ID, suggestionId, SuggestionList } from "./suggestion-list.tsx";
import "./composer.css";

/** Rarely shown. */
const SessionProblem = lazy(async () => import("./session-problem.tsx"));

/**
 * The text field for messages to a session. Its state is local: typing changes nothing outside of this element.
 */
export function Composer(props: { readonly view: SessionView }): JSX.Element {
  const daemon = useDaemon();
  return (
    <Show
      when={daemon.can("write")}
      fallback={<p class="composer-read-only">Your token can only read this session.</p>}
    >
      <WritableComposer view={props.view} />
    </Show>
  );
}

function WritableComposer(props: { readonly view: SessionView }): JSX.Element {
  const { client } = useDaemon();
  const composer = createComposer(props.view);
  const [caret, setCaret] = createSignal(0);
  const suggestions = createSuggestions(
    () => ({ text: composer.draft().text, caret: caret() }),
    client,
    props.view.id,
  );
  const [isDropTarget, setDropTarget] = createSignal(false);
  const hintId = createUniqueId();
  let field!: HTMLTextAreaElement;
  let picker!: HTMLInputElement;
  let escapedAt: number | undefined;
  let isInHistory = false;

  const setText = (text: string, position = text.length): void => {
    composer.setText(text);
    // The value is not set by an effect, which would move the caret to the end on every key.
    field.value = text;
    field.setSelectionRange(position, position);
    setCaret(position);
  };
  const syncText = (): void => {
    if (field.value !== composer.draft().text) setText(composer.draft().text);
  };

  const accept = (index: number): void => {
    const target = suggestions.target();
    const suggestion = suggestions.suggestions()[index];
    if (!target || !suggestion) return;
    const next = applyCompletion(composer.draft().text, target, suggestion.value);
    setText(next.text, next.caret);
    field.focus();
  };

  const submit: ComposerState["submit"] = (mode) => {
    composer.submit(mode);
    isInHistory = false;
    syncText();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (handleSuggestionKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const action = composerAction(event, {
      text: field.value,
      caret: field.selectionStart,
      hasSelection: field.selectionStart !== field.selectionEnd,
      isInHistory,
      escapedAt,
      now: event.timeStamp,
    });
    if (!action) return;
    if (event.key !== "Escape") event.preventDefault();
    event.stopPropagation();
    perform(action, event.timeStamp);
  };

  const handleSuggestionKey = (event: KeyboardEvent): boolean => {
    if (suggestions.suggestions().length === 0 || event.isComposing) return false;
    if (event.key === "ArrowDown") suggestions.move(1);
    else if (event.key === "ArrowUp") suggestions.move(-1);
    else if (event.key === "Escape") suggestions.dismiss();
    else if (event.key === "Tab" && !event.shiftKey) accept(suggestions.selected());
    else if (event.key === "Enter" && !hasModifier(event) && !isWholeCommand())
      accept(suggestions.selected());
    else return false;
    return true;
  };

  /** A command such as `/compact` is complete, so Enter runs it instead of completing its name. */
  const isWholeCommand = (): boolean => {
    const target = suggestions.target();
    const suggestion = suggestions.suggestions()[suggestions.selected()];
    return target?.type === "command" && suggestion?.value === target.query;
  };

  const perform = (action: ReturnType<typeof composerAction>, now: number): void => {
    switch (action) {
      case "send":
        return submit();
      case "queue":
        return submit("queue");
      case "steer":
        return submit("steer");
      case "cancel":
        escapedAt = now;
        if (composer.isRunning()) {
          composer.setOutcome({ message: "Press Escape again to interrupt the turn." });
          setTimeout(() => clearHint(), DOUBLE_ESCAPE_MS);
        } else field.blur();
        return;
      case "interrupt":
        escapedAt = undefined;
        if (composer.isRunning()) void composer.interrupt();
        return;
      case "historyPrevious":
      case "historyNext": {
        const text =
          action === "historyPrevious" ? composer.history.previous(field.value) : composer.history.next();
        if (text === undefined) return;
        isInHistory = true;
        return setText(text);
      }
      default:
    }
  };

  const clearHint = (): void => {
    if (composer.outcome()?.message.startsWith("Press Escape") === true) composer.setOutcome(undefined);
  };

  const runPlanned = async (planned: PlannedCommand): Promise<boolean> => {
    const target = { client, sessionId: props.view.id, threadId: null, turns: [] };
    return composer.attempt(async () => runCommand(planned, target));
  };
  const refused = (): (() => void) | undefined => {
    const message = composer.queue().find(({ state }) => state === "refused");
    return message && (() => void composer.retry(message.key));
  };

  const onPaste = (event: ClipboardEvent): void => {
    const files = imagesOf(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    void composer.attach(files);
  };

  const onDrop = (event: DragEvent): void => {
    const files = imagesOf(event.dataTransfer);
    setDropTarget(false);
    if (files.length === 0) return;
    event.preventDefault();
    void composer.attach(files);
  };

  return (
    <form
      class="composer"
      classList={{ "composer-drop": isDropTarget() }}
      aria-label="Message to Codex"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setDropTarget(true);
      }}
      onDragLeave={() => setDropTarget(false)}
      onDrop={onDrop}
    >
      <QueueList composer={{ ...composer, edit: async (message) => composer.edit(message).then(syncText) }} />
      <Show when={props.view.session()?.problem}>
        {(problem) => (
          <Suspense>
            <SessionProblem
              sessionId={props.view.id}
              threadId={props.view.session()?.threadId ?? null}
              problem={problem()}
              onFork={() => void runPlanned({ operation: "fork", body: {} })}
              onRetry={refused()}
            />
          </Suspense>
        )}
      </Show>
      <p class="composer-outcome" role="status" data-failed={composer.outcome()?.failed}>
        {composer.outcome()?.message}
      </p>
      <Attachments composer={composer} sessionId={props.view.id} />
      <div class="composer-box">
        <SuggestionList suggestions={suggestions} onAccept={accept} />
        <textarea
          ref={(element) => {
            field = element;
            element.value = composer.draft().text;
          }}
          id="composer"
          rows="2"
          aria-label="Message"
          aria-describedby={hintId}
          aria-autocomplete="list"
          aria-controls={suggestions.suggestions().length > 0 ? SUGGESTION_LIST_ID : undefined}
          aria-activedescendant={
            suggestions.suggestions().length > 0 ? suggestionId(suggestions.selected()) : undefined
          }
          placeholder="Ask Codex, @ for files, / for commands, ! for a shell command"
          enterkeyhint="send"
          onInput={(event) => {
            composer.setText(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart);
            isInHistory = false;
          }}
          onKeyDown={onKeyDown}
          onKeyUp={() => setCaret(field.selectionStart)}
          onClick={() => setCaret(field.selectionStart)}
          onPaste={onPaste}
        />
        <p class="visually-hidden" id={hintId}>
          Enter sends, Shift Enter adds a line, Control Enter queues, Alt Enter steers the running turn,
          Escape twice interrupts it.
        </p>
      </div>
      <div class="composer-bar">
        <button
          type="button"
          class="button button-quiet composer-icon"
          aria-label="Add images"
          onClick={() => picker.click()}
        >
          +
        </button>
        <input
          ref={(element) => (picker = element)}
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          multiple
          hidden
          onChange={(event) => {
            void composer.attach([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        <Show when={props.view.session()}>
          {(session) => (
            <SettingsMenus
              settings={session().settings}
              onChange={async (body) => runPlanned({ operation: "settings", body })}
            />
          )}
        </Show>
        <span class="composer-space" />
        <Show when={composer.isRunning()}>
          <button type="button" class="button" onClick={() => submit("steer")} title="Alt+Enter">
            Steer
          </button>
          <button
            type="button"
            class="button button-danger"
            onClick={() => void composer.interrupt()}
            title="Esc Esc"
          >
            Stop
          </button>
        </Show>
        <button type="submit" class="button button-primary" title="Enter">
          {composer.isRunning() ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}

function hasModifier({ shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return shiftKey || altKey || ctrlKey || metaKey;
}

function imagesOf(data: DataTransfer | null): readonly File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}
