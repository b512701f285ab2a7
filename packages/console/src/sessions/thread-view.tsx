import { For, type JSX, Match, Show, Switch } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { setQueryParams, toHref } from "../routing/index.ts";
import { createThread } from "./create-thread.ts";
import { WriterLock } from "./writer-lock.tsx";
import { ProblemText } from "../ui/index.ts";

const NAMES = { you: "You", codex: "Codex", work: "Work" } as const;

/** A thread of the Codex CLI: its history, new items, and actions to continue it here. */
export function ThreadView(props: { readonly threadId: string }): JSX.Element {
  const daemon = useDaemon();
  const thread = createThread(props.threadId);
  return (
    <div class="thread-view">
      <header class="thread-header">
        <button type="button" class="button" onClick={() => setQueryParams({ thread: undefined })}>
          Back to all threads
        </button>
        <h2>{thread.details()?.name ?? thread.details()?.preview ?? props.threadId}</h2>
        <Show when={thread.details()}>
          {(details) => (
            <p class="muted">
              {details().source} in <code>{details().cwd}</code>
            </p>
          )}
        </Show>
      </header>
      <ProblemText text={thread.problem()} />
      <Switch>
        <Match when={thread.details()?.sessionId}>
          {(sessionId) => (
            <p>
              It was imported: <a href={toHref(`/s/${encodeURIComponent(sessionId())}`)}>open the session</a>.
            </p>
          )}
        </Match>
        <Match when={!daemon.can("write")}>
          <p class="muted">Your token can only follow it.</p>
        </Match>
        <Match when={thread.details()?.holder}>
          {(holder) => (
            <WriterLock holder={holder()} onFork={() => void thread.open("fork")}>
              <Show
                when={thread.isWaiting()}
                fallback={
                  <button type="button" class="button" onClick={() => void thread.waitAndImport()}>
                    Wait, then continue here
                  </button>
                }
              >
                <button type="button" class="button" onClick={() => thread.stopWaiting()}>
                  Stop waiting
                </button>
                <span role="status">Waiting for the other program to close it…</span>
              </Show>
              <span>It is followed below: new messages appear when they are complete.</span>
            </WriterLock>
          )}
        </Match>
        <Match when={thread.details()}>
          <div class="thread-actions">
            <button
              type="button"
              class="button button-primary"
              disabled={thread.isBusy()}
              onClick={() => void thread.open("import")}
            >
              Continue here
            </button>
            <button
              type="button"
              class="button"
              disabled={thread.isBusy()}
              onClick={() => void thread.open("fork")}
            >
              Fork
            </button>
            <p class="muted">
              Continuing copies the thread into the daemon. Continue it in only one of the two places. A fork
              has its own ID, so both can continue.
            </p>
          </div>
        </Match>
      </Switch>
      <p class="muted" role="status">
        {STATES[thread.state()]}
      </p>
      <ol class="thread-lines" aria-label="History">
        <For each={thread.lines()}>
          {({ who, text }) => (
            <li data-who={who}>
              <span class="thread-who">{NAMES[who]}</span>
              <span class="thread-text">{text}</span>
            </li>
          )}
        </For>
      </ol>
    </div>
  );
}

const STATES = {
  reading: "Reading the history…",
  following: "Following: what the other program writes appears here.",
  ended: "The file of the thread was removed.",
} as const;
