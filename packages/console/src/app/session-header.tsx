import { createMemo, For, Show } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { navigate } from "../routing/index.ts";
import { announce, formatDuration, Icon, type IconName } from "../ui/index.ts";
import { PANELS } from "./panels.ts";
import { phaseLabel, PhaseMark } from "./phase-mark.tsx";

const PANEL_ICONS: Readonly<Record<string, IconName>> = {
  diff: "diff",
  plan: "plan",
  agents: "agent",
  terminal: "terminal",
  files: "file",
  usage: "usage",
  events: "events",
};

export interface SessionHeaderProps {
  readonly view: SessionView;
  readonly title: string;
  readonly panel: string | undefined;
  readonly setPanel: (id: string | undefined) => void;
  readonly revealTurn: (turnId: string) => void;
}

/** Title, folder and settings of the session, its outline, its actions and its panels. */
export function SessionHeader(props: SessionHeaderProps) {
  const { isFleet } = useDaemon();
  const session = () => props.view.session();
  const facts = createMemo(() => {
    const current = session();
    if (!current) return [];
    const { model, effort, permissionMode, agentMode } = current.settings;
    return [
      model === undefined ? "" : `${model}${effort === undefined ? "" : ` ${effort}`}`,
      permissionMode,
      agentMode === "build" ? "" : agentMode,
      isFleet() && current.node !== null ? `on ${current.node}` : "",
    ].filter((fact) => fact !== "");
  });
  return (
    <header class="session-head">
      <div class="head-title">
        <Show when={session()}>{(shown) => <PhaseMark phase={shown().phase} />}</Show>
        <h1 class="one-line">{props.title}</h1>
        <OutlineMenu view={props.view} revealTurn={props.revealTurn} />
        <ActionsMenu view={props.view} />
      </div>
      <p class="head-facts one-line">
        <Show when={session()}>
          {(shown) => (
            <>
              <span>{phaseLabel(shown().phase)}</span>
              <For each={facts()}>{(fact) => <span>{fact}</span>}</For>
              <code title={shown().cwd}>{shown().cwd}</code>
            </>
          )}
        </Show>
      </p>
      <div class="panel-tabs" role="group" aria-label="Panels">
        <For each={PANELS}>
          {({ id, label }) => (
            <button
              type="button"
              aria-pressed={props.panel === id}
              onClick={() => props.setPanel(props.panel === id ? undefined : id)}
            >
              <Icon name={PANEL_ICONS[id] ?? "info"} />
              <span>{label}</span>
            </button>
          )}
        </For>
      </div>
    </header>
  );
}

/** The outline, which jumps to a turn. */
function OutlineMenu(props: { readonly view: SessionView; readonly revealTurn: (turnId: string) => void }) {
  const turns = createMemo(() => {
    const threadId = props.view.session()?.threadId;
    return props.view.turns().filter((turn) => turn.threadId === threadId);
  });
  let menu!: HTMLDivElement;
  return (
    <Show when={turns().length > 0}>
      <button type="button" class="button button-quiet" popovertarget="outline">
        <Icon name="list" />
        {turns().length} {turns().length === 1 ? "turn" : "turns"}
      </button>
      <div ref={menu} id="outline" popover="auto" class="menu outline" role="group" aria-label="Outline">
        <ol>
          <For each={turns()}>
            {(turn, index) => (
              <li>
                <button
                  type="button"
                  onClick={() => {
                    menu.hidePopover();
                    props.revealTurn(turn.id);
                  }}
                >
                  <span class="outline-number">{index() + 1}</span>
                  <span class="one-line">{turn.title || "…"}</span>
                  <span class="nav-age">
                    <Show when={turn.endedAt} fallback={turn.status}>
                      {(endedAt) => <>{formatDuration(endedAt() - turn.startedAt)}</>}
                    </Show>
                  </span>
                </button>
              </li>
            )}
          </For>
        </ol>
      </div>
    </Show>
  );
}

/** The menu of actions on the session. */
function ActionsMenu(props: { readonly view: SessionView }) {
  const { client, can } = useDaemon();
  let menu!: HTMLDivElement;
  const params = (): { sessionId: string } => ({ sessionId: props.view.id });
  const run = (action: () => Promise<unknown>) => () => {
    menu.hidePopover();
    action().catch((error: unknown) => announce(error instanceof Error ? error.message : String(error)));
  };
  const fork = async (): Promise<void> => {
    const command = await client.request("POST /sessions/{sessionId}/fork", {
      params: params(),
      body: {},
      query: { wait: 20_000 },
    });
    const id = command.result?.["sessionId"];
    if (typeof id === "string") navigate(`/s/${encodeURIComponent(id)}`);
  };
  const archive = async (): Promise<void> => {
    await client.request(
      props.view.session()?.archivedAt === null
        ? "POST /sessions/{sessionId}/archive"
        : "POST /sessions/{sessionId}/unarchive",
      { params: params(), query: {} },
    );
  };
  return (
    <>
      <button type="button" class="icon-button" popovertarget="session-actions" aria-label="Session actions">
        <Icon name="more" />
      </button>
      <div
        ref={menu}
        id="session-actions"
        popover="auto"
        class="menu"
        role="group"
        aria-label="Session actions"
      >
        <Show when={can("write")}>
          <button type="button" onClick={run(fork)}>
            <Icon name="fork" /> Fork
          </button>
          <button
            type="button"
            onClick={run(async () =>
              client.request("POST /sessions/{sessionId}/compact", { params: params(), query: {} }),
            )}
          >
            <Icon name="archive" /> Compact the context
          </button>
          <button type="button" onClick={run(archive)}>
            <Icon name="archive" /> {props.view.session()?.archivedAt === null ? "Archive" : "Restore"}
          </button>
        </Show>
        <Show when={can("admin")}>
          <a href={`/sessions/${encodeURIComponent(props.view.id)}/export`} download="">
            <Icon name="file" /> Export
          </a>
        </Show>
      </div>
    </>
  );
}
