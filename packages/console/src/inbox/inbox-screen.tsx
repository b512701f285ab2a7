import type { Approval } from "@codexkit/daemon/client";
import { createComputed, createEffect, createMemo, createSignal, createUniqueId, For, Show } from "solid-js";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { KIND_LABELS, type RequestKind, sessionName } from "../approvals/describe-request.ts";
import { useDaemon } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { hashTarget, queryParam, setQueryParams, toHref } from "../routing/index.ts";
import { groupAlike } from "./alike.ts";
import { AlikeDialog } from "./alike-dialog.tsx";
import { AnsweredList } from "./answered-list.tsx";
import { countKinds, groupApprovals, neighbourOf, nextWaiting } from "./group-approvals.ts";
import "./inbox.css";

export default function InboxScreen() {
  const { inbox } = useDaemon();
  const isAudit = () => queryParam("tab") === "answered";
  const panelId = createUniqueId();

  function selectTab(tab: string | undefined): void {
    setQueryParams({ tab });
  }

  return (
    <section class="screen inbox" aria-labelledby="inbox-title">
      <h1 id="inbox-title">Inbox</h1>
      <div class="inbox-tabs" role="tablist" aria-label="Inbox">
        <button
          type="button"
          class="inbox-tab"
          role="tab"
          aria-selected={!isAudit()}
          aria-controls={panelId}
          onClick={() => selectTab(undefined)}
        >
          Waiting
          <Show when={inbox().length > 0}>
            {" "}
            <span class="badge">{inbox().length}</span>
          </Show>
        </button>
        <button
          type="button"
          class="inbox-tab"
          role="tab"
          aria-selected={isAudit()}
          aria-controls={panelId}
          onClick={() => selectTab("answered")}
        >
          Answered
        </button>
      </div>
      <div id={panelId} role="tabpanel" aria-label={isAudit() ? "Answered" : "Waiting"}>
        <Show when={isAudit()} fallback={<WaitingList />}>
          <AnsweredList />
        </Show>
      </div>
    </section>
  );
}

/** All open approvals, and those that were answered since the screen was opened. */
function WaitingList() {
  const { inbox, approval, session } = useDaemon();
  const [kind, setKind] = createSignal<RequestKind | null>(null);
  // Answered approvals stay as lines until the screen is closed, so that nothing moves while the user answers.
  const [seen, setSeen] = createSignal<readonly string[]>([]);
  createComputed(() => {
    const waiting = inbox().map(({ id }) => id);
    setSeen((before) =>
      waiting.every((id) => before.includes(id)) ? before : [...new Set([...before, ...waiting])],
    );
  });
  let list!: HTMLDivElement;

  const shown = createMemo(() =>
    seen().flatMap((id) => {
      const found = approval(id);
      return found && (kind() === null || found.kind === kind()) ? [found] : [];
    }),
  );
  /** The approvals of each session. Lists are rendered from the IDs, so that a new approval leaves all other cards in place. */
  const groups = createMemo(
    () => new Map(groupApprovals(shown()).map(({ sessionId, ids }) => [sessionId, ids])),
  );
  const ids = () => [...groups().values()].flat();
  const alike = createMemo(() => groupAlike(inbox()));
  const [answering, setAnswering] = createSignal<readonly Approval[]>();
  const waiting = () => inbox().filter((candidate) => kind() === null || candidate.kind === kind());
  const isWaiting = (id: string) => inbox().some((candidate) => candidate.id === id);

  function focusCard(id: string | undefined): void {
    if (id === undefined) return;
    const card = list.querySelector<HTMLElement>(`[data-approval="${CSS.escape(id)}"]`);
    card?.focus();
    card?.scrollIntoView({ block: "nearest" });
  }

  function move(step: 1 | -1): void {
    const focused = document.activeElement?.closest<HTMLElement>("[data-approval]")?.dataset["approval"];
    focusCard(neighbourOf(ids().filter(isWaiting), focused, step));
  }

  // A deep link, such as that of a notification. The card receives the focus once it is loaded.
  createEffect(() => {
    const target = hashTarget();
    if (target === "" || !ids().includes(target)) return;
    queueMicrotask(() => {
      focusCard(target);
      setQueryParams({});
    });
  });

  useKeys("list", {
    "inbox.next": () => move(1),
    "inbox.previous": () => move(-1),
  });

  return (
    <div
      class="inbox-list"
      ref={(element) => {
        list = element;
      }}
    >
      <Show when={countKinds(inbox()).length > 1 || kind() !== null}>
        <div class="inbox-filters" role="group" aria-label="Kinds of requests">
          <FilterButton
            label="All"
            count={inbox().length}
            isOn={kind() === null}
            onPress={() => setKind(null)}
          />
          <For each={countKinds(inbox())}>
            {([candidate, count]) => (
              <FilterButton
                label={KIND_LABELS[candidate]}
                count={count}
                isOn={kind() === candidate}
                onPress={() => setKind(kind() === candidate ? null : candidate)}
              />
            )}
          </For>
        </div>
      </Show>
      <Show when={answering()} keyed>
        {(approvals) => <AlikeDialog approvals={approvals} close={() => setAnswering(undefined)} />}
      </Show>
      <Show when={waiting().length === 0}>
        <NothingWaits isFiltered={kind() !== null && inbox().length > 0} />
      </Show>
      <For each={[...groups().keys()]}>
        {(sessionId) => (
          <section class="inbox-group" aria-label={sessionName(session(sessionId), sessionId)}>
            <h2>
              <a href={toHref(`/s/${sessionId}`)}>{sessionName(session(sessionId), sessionId)}</a>{" "}
              <span class="muted">{session(sessionId)?.cwd}</span>
            </h2>
            <For each={groups().get(sessionId)}>
              {(id) => (
                <Show when={approval(id)}>
                  {(found) => (
                    <ApprovalCard
                      approval={found()}
                      place="inbox"
                      onAnswered={() => focusCard(nextWaiting(ids(), id, isWaiting))}
                      more={
                        <Show when={alike().get(id)}>
                          {(others) => (
                            <button
                              type="button"
                              class="button button-quiet alike-button"
                              onClick={() => setAnswering(others())}
                            >
                              Answer {others().length} like this…
                            </button>
                          )}
                        </Show>
                      }
                    />
                  )}
                </Show>
              )}
            </For>
          </section>
        )}
      </For>
    </div>
  );
}

/** The empty state, with the running sessions. */
function NothingWaits(props: { readonly isFiltered: boolean }) {
  const { sessions, connection } = useDaemon();
  const running = () => sessions().filter(({ phase }) => phase === "running" || phase === "ready");
  return (
    <div class="inbox-empty">
      <Show when={connection().state !== "connecting"} fallback={<p>Loading…</p>}>
        <p class="inbox-empty-title">{props.isFiltered ? "Nothing of this kind waits" : "Nothing waits"}</p>
        <Show when={running().length > 0} fallback={<p class="muted">No session is running.</p>}>
          <p class="muted">Running now:</p>
          <ul>
            <For each={running()}>
              {(session) => (
                <li>
                  <a href={toHref(`/s/${session.id}`)}>{sessionName(session, session.id)}</a>
                </li>
              )}
            </For>
          </ul>
        </Show>
      </Show>
    </div>
  );
}

function FilterButton(props: {
  readonly label: string;
  readonly count: number;
  readonly isOn: boolean;
  readonly onPress: () => void;
}) {
  return (
    <button type="button" class="button" aria-pressed={props.isOn} onClick={() => props.onPress()}>
      {props.label} <span class="muted">{props.count}</span>
    </button>
  );
}
