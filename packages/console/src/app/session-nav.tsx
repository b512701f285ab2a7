import { createMemo, For, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { routeParam, toHref } from "../routing/index.ts";
import { groupSessions } from "../sessions/group-sessions.ts";
import { pinnedSessions } from "../sessions/pins.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { Ago, Icon } from "../ui/index.ts";
import { PhaseMark } from "./phase-mark.tsx";

/** The list of sessions beside every screen, ordered by what needs attention. */
export function SessionNav() {
  const { sessions, can } = useDaemon();
  const groups = createMemo(() =>
    groupSessions(
      sessions().filter(({ archivedAt }) => archivedAt === null),
      { now: Date.now(), pinned: pinnedSessions() },
    ),
  );
  const labels = createMemo(() => groups().map(({ name }) => name), undefined, {
    equals: (a, b) => a.join() === b.join(),
  });
  const of = (label: string) => groups().find(({ name }) => name === label)?.sessions ?? [];
  return (
    <nav class="nav" aria-label="Sessions">
      <Show when={can("write")}>
        <a class="button nav-new" href={toHref("/new")}>
          <Icon name="plus" /> New session
        </a>
      </Show>
      <For each={labels()}>
        {(label) => (
          <section aria-label={label}>
            <h2>
              {label} <span>{of(label).length}</span>
            </h2>
            <ul>
              <For each={of(label).map(({ id }) => id)}>{(id) => <NavItem id={id} />}</For>
            </ul>
          </section>
        )}
      </For>
      <Show when={groups().length === 0}>
        <p class="nav-empty">No sessions yet.</p>
      </Show>
    </nav>
  );
}

function NavItem(props: { readonly id: string }) {
  const { session } = useDaemon();
  const current = createMemo(() => session(props.id));
  return (
    <Show when={current()}>
      {(shown) => (
        <li>
          <a
            href={toHref(`/s/${encodeURIComponent(props.id)}`)}
            aria-current={routeParam("id") === props.id ? "page" : undefined}
            title={shown().cwd}
          >
            <PhaseMark phase={shown().phase} />
            <span class="one-line">{sessionTitle(shown())}</span>
            <span class="nav-age">
              <Ago at={shown().updatedAt} />
            </span>
          </a>
        </li>
      )}
    </Show>
  );
}
