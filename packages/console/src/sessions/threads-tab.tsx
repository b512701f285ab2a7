import type { CliThread } from "@codexkit/daemon/client";
import { createEffect, createSignal, For, type JSX, on, onCleanup, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { queryParam, setQueryParams, toHref } from "../routing/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { formatAge } from "./group-sessions.ts";
import { folderName } from "../settings/session-title.ts";
import { ThreadView } from "./thread-view.tsx";

const DELAY_MS = 200;

/** Threads of the Codex CLI, which can be followed, imported and forked. */
export function ThreadsTab(): JSX.Element {
  return (
    <Show when={queryParam("thread")} keyed fallback={<ThreadList />}>
      {(threadId) => <ThreadView threadId={threadId} />}
    </Show>
  );
}

function ThreadList(): JSX.Element {
  const daemon = useDaemon();
  const [search, setSearch] = createSignal(queryParam("q") ?? "");
  const [archived, setArchived] = createSignal(false);
  const [threads, setThreads] = createSignal<readonly CliThread[]>([]);
  const [next, setNext] = createSignal<string | null>(null);
  const [skipped, setSkipped] = createSignal(0);
  const [isLoading, setLoading] = createSignal(true);
  const [problem, setProblem] = createSignal<string>();
  let controller = new AbortController();

  const load = async (signal: AbortSignal, cursor?: string): Promise<void> => {
    setLoading(true);
    try {
      const text = search().trim();
      const page = await daemon.client.threads.list({
        archived: archived(),
        limit: 50,
        ...(text !== "" && { search: text }),
        ...(cursor !== undefined && { cursor }),
        signal,
      });
      setThreads((known) => (cursor === undefined ? page.data : [...known, ...page.data]));
      setNext(page.next);
      setSkipped((count) => (cursor === undefined ? 0 : count) + page.skipped.length);
      setProblem(undefined);
    } catch (error) {
      if (signal.aborted) return;
      setProblem(explainError(error));
    }
    setLoading(false);
  };

  createEffect(
    on([search, archived], () => {
      controller = new AbortController();
      const { signal } = controller;
      const timer = setTimeout(() => void load(signal), DELAY_MS);
      onCleanup(() => {
        clearTimeout(timer);
        controller.abort();
      });
    }),
  );

  return (
    <>
      <div class="sessions-tools" role="search">
        <input
          class="input"
          type="search"
          data-search
          aria-label="Search threads"
          placeholder="Search names, folders and messages"
          value={search()}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <label class="sessions-check">
          <input
            type="checkbox"
            checked={archived()}
            onChange={(event) => setArchived(event.currentTarget.checked)}
          />
          Archived
        </label>
      </div>
      <p class="sessions-message" role="status">
        {problem() ?? (isLoading() ? "Searching…" : undefined)}
      </p>
      <ul class="sessions-list thread-list">
        <For
          each={threads()}
          fallback={
            <Show when={!isLoading() && problem() === undefined && next() === null}>
              <li class="muted">
                No thread of the Codex CLI was found in the folders that the daemon may serve.
              </li>
            </Show>
          }
        >
          {(thread) => (
            <li class="listed-row">
              <button type="button" class="listed-link" onClick={() => setQueryParams({ thread: thread.id })}>
                <span class="listed-title">{thread.name ?? (thread.preview.trim() || thread.id)}</span>
                <span class="listed-facts">
                  <span>{thread.source}</span>
                  <span title={thread.cwd}>{folderName(thread.cwd)}</span>
                  <Show when={thread.branch}>{(branch) => <span>{branch()}</span>}</Show>
                  <span>{formatAge(thread.updatedAt, daemon.clock())}</span>
                </span>
                <Show when={thread.match}>{(match) => <span class="thread-match">{match()}</span>}</Show>
              </button>
              <Show when={thread.sessionId}>
                {(sessionId) => (
                  <div class="listed-actions">
                    <a class="button button-quiet" href={toHref(`/s/${encodeURIComponent(sessionId())}`)}>
                      Open session
                    </a>
                  </div>
                )}
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={next()}>
        {(cursor) => (
          <button
            type="button"
            class="button"
            disabled={isLoading()}
            onClick={() => void load(controller.signal, cursor())}
          >
            {threads().length === 0 ? "Search on" : "Show more"}
          </button>
        )}
      </Show>
      <Show when={skipped() > 0}>
        <p class="muted">{skipped()} files can't be used.</p>
      </Show>
    </>
  );
}
