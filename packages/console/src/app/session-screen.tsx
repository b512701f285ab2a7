import { createEffect, createMemo, type JSX, Show, Suspense } from "solid-js";
import { Dynamic } from "solid-js/web";
import { Composer } from "../composer/composer.tsx";
import { useDaemon } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { PlanStrip } from "../plan/plan-strip.tsx";
import { queryParam, routeParam, setQueryParams } from "../routing/index.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { FailureBoundary, Icon, type VirtualListHandle } from "../ui/index.ts";
import { lastSession } from "./last-session.ts";
import { PANELS } from "./panels.ts";
import { SessionHeader } from "./session-header.tsx";
import "./session-screen.css";

export default function SessionScreen() {
  return (
    <Show when={routeParam("id")} keyed>
      {(id) => <Session id={id} />}
    </Show>
  );
}

function Session(props: { readonly id: string }) {
  const view = useDaemon().watch(props.id);
  const panel = createMemo(() => PANELS.find(({ id }) => id === queryParam("p")));
  const setPanel = (id: string | undefined): void => setQueryParams({ p: id });
  const title = createMemo(() => {
    const session = view.session();
    return session ? sessionTitle(session) : "Session";
  });
  let list: VirtualListHandle | undefined;
  let composer!: HTMLDivElement;

  createEffect(() => {
    const session = view.session();
    if (session) lastSession.write(session.id);
  });
  useKeys("transcript", {
    ...Object.fromEntries(
      PANELS.map(({ id }) => [`panel.${id}`, () => setPanel(panel()?.id === id ? undefined : id)]),
    ),
    "app.goTerminal": () => setPanel("terminal"),
    "panel.close": () => (panel() ? setPanel(undefined) : false),
  });
  const revealTurn = async (turnId: string): Promise<void> => {
    const turn = view.turns().find(({ id }) => id === turnId);
    if (!turn) return;
    await view.loadAround(turn.firstSeq);
    await list?.reveal(`turn/${turnId}`, "start");
  };
  return (
    <Show when={view.status() !== "missing"} fallback={<MissingSession id={props.id} />}>
      <div class="session" data-panel={panel()?.id}>
        <SessionHeader
          view={view}
          title={title()}
          panel={panel()?.id}
          setPanel={setPanel}
          revealTurn={(id) => void revealTurn(id)}
        />
        <Transcript
          view={view}
          openPanel={setPanel}
          focusComposer={() => composer.querySelector<HTMLElement>("textarea, [contenteditable]")?.focus()}
          handle={(handle) => {
            list = handle;
          }}
        />
        <div class="session-foot" ref={composer}>
          <PlanStrip view={view} />
          <Composer view={view} />
        </div>
        <Show when={panel()} keyed>
          {(shown) => (
            <aside class="session-panel" aria-label={shown.label}>
              <PanelFrame label={shown.label} close={() => setPanel(undefined)}>
                <FailureBoundary>
                  <Dynamic component={shown.component} view={view} />
                </FailureBoundary>
              </PanelFrame>
            </aside>
          )}
        </Show>
      </div>
    </Show>
  );
}

function PanelFrame(props: {
  readonly label: string;
  readonly close: () => void;
  readonly children: JSX.Element;
}) {
  let close!: HTMLButtonElement;
  // The overlay receives the focus, so that it can be used and closed with the keyboard.
  const isOverlay = matchMedia("(width < 1100px)").matches;
  if (isOverlay) queueMicrotask(() => close.focus());
  return (
    <>
      <div class="panel-head">
        <h2>{props.label}</h2>
        <button
          ref={close}
          type="button"
          class="icon-button"
          aria-label={`Close ${props.label}`}
          onClick={() => props.close()}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="panel-body">
        <Suspense fallback={<p class="muted panel-wait">Loading</p>}>{props.children}</Suspense>
      </div>
    </>
  );
}

function MissingSession(props: { readonly id: string }) {
  return (
    <section class="screen">
      <h1>There is no such session</h1>
      <p class="muted">
        The daemon has no session <code>{props.id}</code>. It may have been deleted.
      </p>
      <p>
        <a href="/console/sessions">All sessions</a>
      </p>
    </section>
  );
}
