import type { Session } from "@codexkit/daemon/client";
import { createEffect, createMemo, createSignal, For, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { hashTarget, queryParam, setQueryParams, toHref } from "../routing/index.ts";
import { createSessionList, type SessionFilter } from "./create-session-list.ts";
import { EmptyState } from "./empty-state.tsx";
import { groupSessions } from "./group-sessions.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { pinnedSessions, togglePin } from "./pins.ts";
import { changeSession, type SessionAction } from "./session-actions.ts";
import { SessionRow } from "./session-row.tsx";
import { ThreadsTab } from "./threads-tab.tsx";
import { ConfirmDialog } from "../ui/index.ts";
import "./sessions.css";

type ListAction = "archive" | "rename" | "pin" | "delete";

const FILTERS: readonly { readonly value: SessionFilter; readonly label: string }[] = [
  { value: "all", label: "All" },
  { value: "waiting", label: "Waiting" },
  { value: "running", label: "Running" },
  { value: "idle", label: "Idle" },
  { value: "archived", label: "Archived" },
];

export default function SessionsScreen(): JSX.Element {
  const isThreads = (): boolean => queryParam("from") === "cli";
  return (
    <section class="screen sessions-screen">
      <header class="sessions-header">
        <h1>Sessions</h1>
        <nav class="sessions-tabs" aria-label="Kinds of sessions">
          <a href={toHref("/sessions")} aria-current={isThreads() ? undefined : "page"}>
            Here
          </a>
          <a href={toHref("/sessions?from=cli")} aria-current={isThreads() ? "page" : undefined}>
            Codex CLI
          </a>
        </nav>
        <a class="button button-primary" href={toHref("/new")}>
          New session
        </a>
      </header>
      <Show when={!isThreads()} fallback={<ThreadsTab />}>
        <SessionList />
      </Show>
    </section>
  );
}

function SessionList(): JSX.Element {
  const daemon = useDaemon();
  const filter = createMemo<SessionFilter>(
    () => FILTERS.find(({ value }) => value === queryParam("filter"))?.value ?? "all",
  );
  const [search, setSearch] = createSignal(queryParam("q") ?? "");
  const folder = () => queryParam("folder") ?? "";
  const list = createSessionList(filter, search, folder);
  const folders = createMemo(() =>
    [...new Set([...daemon.sessions().map(({ cwd }) => cwd), folder()])]
      .filter((cwd) => cwd !== "")
      .toSorted(),
  );
  const [renaming, setRenaming] = createSignal<string>();
  const byId = createMemo(() => new Map(list.sessions().map((session) => [session.id, session])));
  /** Session IDs by group. Rows are rendered from IDs, so that a change of a session leaves its row in place. */
  const groups = createMemo<ReadonlyMap<string, readonly string[]>>((before) => {
    // Nothing moves while a name is being edited.
    if (before && renaming() !== undefined) return before;
    const grouped = groupSessions(list.sessions(), { now: daemon.clock(), pinned: pinnedSessions() });
    return new Map(grouped.map(({ name, sessions }) => [name, sessions.map(({ id }) => id)]));
  });
  const [deleting, setDeleting] = createSignal<Session>();
  const [message, setMessage] = createSignal<string>();
  let container!: HTMLDivElement;
  let field!: HTMLInputElement;

  // The search shortcut opens this screen.
  createEffect(() => {
    if (hashTarget() !== "search") return;
    queueMicrotask(() => {
      field.focus();
      setQueryParams({});
    });
  });

  const links = (): HTMLElement[] => [...container.querySelectorAll<HTMLElement>(".listed-link")];

  const act = async (session: Session, action: SessionAction): Promise<void> => {
    const problem = await changeSession(daemon.client, session.id, action);
    if (problem === undefined && action.type === "delete") list.forget(session.id);
    setMessage(problem ?? `${DONE[action.type]} ${sessionTitle(session)}.`);
  };

  const focusedIndex = (): number =>
    links().findIndex((link) => link.closest("li")?.contains(document.activeElement) === true);
  const focusLink = (index: number): void => {
    const all = links();
    all[Math.min(Math.max(index, 0), all.length - 1)]?.focus();
  };
  const onFocused = (action: ListAction) => (): void => {
    const id = links()[focusedIndex()]?.closest("li")?.dataset["session"];
    const session = byId().get(id ?? "");
    if (session) performOn(session, action);
  };
  useKeys(
    "list",
    {
      "list.next": () => focusLink(focusedIndex() + 1),
      "list.previous": () => focusLink(focusedIndex() - 1),
      "list.down": () => focusLink(focusedIndex() + 1),
      "list.up": () => focusLink(focusedIndex() - 1),
      "list.first": () => focusLink(0),
      "list.last": () => focusLink(links().length - 1),
      "list.archive": onFocused("archive"),
      "list.rename": onFocused("rename"),
      "list.pin": onFocused("pin"),
      "list.delete": onFocused("delete"),
    },
    () => container,
  );

  const performOn = (session: Session, action: ListAction): void => {
    if (action === "pin") return togglePin(session.id);
    if (!daemon.can("write")) return;
    if (action === "rename") setRenaming(session.id);
    if (action === "delete") setDeleting(session);
    if (action === "archive") {
      void act(session, { type: session.archivedAt === null ? "archive" : "unarchive" });
    }
  };

  return (
    <>
      <div class="sessions-tools" role="search">
        <input
          class="input"
          type="search"
          ref={(element) => (field = element)}
          aria-label="Search sessions"
          placeholder="Search names, folders and messages"
          value={search()}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            setQueryParams({ q: event.currentTarget.value || undefined });
          }}
        />
        <Show when={folders().length > 1}>
          <select
            class="input sessions-folder"
            aria-label="Folder"
            onChange={(event) => setQueryParams({ folder: event.currentTarget.value || undefined })}
          >
            <option value="">All folders</option>
            <For each={folders()}>
              {(cwd) => (
                <option value={cwd} selected={cwd === folder()}>
                  {cwd}
                </option>
              )}
            </For>
          </select>
        </Show>
        <fieldset class="sessions-filters">
          <legend class="visually-hidden">Show</legend>
          <For each={FILTERS}>
            {({ value, label }) => (
              <label>
                <input
                  type="radio"
                  name="session-filter"
                  checked={filter() === value}
                  onChange={() => setQueryParams({ filter: value === "all" ? undefined : value })}
                />
                <span>{label}</span>
              </label>
            )}
          </For>
        </fieldset>
      </div>
      <p class="sessions-message" role="status">
        {list.problem() ?? message()}
      </p>
      <div class="sessions-list" ref={(element) => (container = element)}>
        <For
          each={[...groups().keys()]}
          fallback={
            <Show when={!list.isLoading()} fallback={<p class="muted">Loading…</p>}>
              <Show
                when={search() === "" && filter() === "all" && folder() === ""}
                fallback={<p class="muted">No session matches.</p>}
              >
                <EmptyState />
              </Show>
            </Show>
          }
        >
          {(name) => (
            <div role="group" aria-label={name}>
              <h2>
                {name} <span class="muted">{groups().get(name)?.length}</span>
              </h2>
              <ul>
                <For each={groups().get(name)}>
                  {(id) => (
                    <Show when={byId().get(id)}>
                      {(session) => (
                        <SessionRow
                          session={session()}
                          isRenaming={renaming() === id}
                          onStartRename={() => setRenaming(id)}
                          onRename={(newName) => {
                            const renamed = session();
                            setRenaming(undefined);
                            if (newName !== undefined) void act(renamed, { type: "rename", name: newName });
                            queueMicrotask(() => focusRow(container, id));
                          }}
                          onArchive={() => performOn(session(), "archive")}
                          onDelete={() => setDeleting(session())}
                        />
                      )}
                    </Show>
                  )}
                </For>
              </ul>
            </div>
          )}
        </For>
        <Show when={list.hasMore()}>
          <button type="button" class="button" onClick={() => void list.loadMore()}>
            Show more
          </button>
        </Show>
      </div>
      <Show when={deleting()}>
        {(session) => (
          <ConfirmDialog
            title={`Delete ${sessionTitle(session())}?`}
            action="Delete"
            onConfirm={() => void act(session(), { type: "delete" })}
            onClose={() => {
              const { id } = session();
              setDeleting(undefined);
              focusRow(container, id);
            }}
          >
            <p>Its history is deleted too. A running turn is interrupted. Files stay as they are.</p>
          </ConfirmDialog>
        )}
      </Show>
    </>
  );
}

const DONE: Readonly<Record<SessionAction["type"], string>> = {
  rename: "Renamed",
  archive: "Archived",
  unarchive: "Restored",
  delete: "Deleted",
};

function focusRow(container: HTMLElement, sessionId: string): void {
  container.querySelector<HTMLElement>(`[data-session="${CSS.escape(sessionId)}"] .listed-link`)?.focus();
}
