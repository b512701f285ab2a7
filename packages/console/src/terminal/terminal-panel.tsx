import type { TerminalSummary } from "@codexkit/daemon/client";
import { createSignal, For, type JSX, lazy, onMount, Show, Suspense } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { storedValue } from "../settings/local-store.ts";
import { changePreferences, preferences } from "../settings/preferences.ts";
import { chooseTerminal, terminalTitle } from "./choose-terminal.ts";
import type { TerminalView, TerminalViewState } from "./create-terminal-view.ts";
import { ProblemText } from "../ui/index.ts";
import "./terminal.css";

const TerminalScreen = lazy(async () => import("./terminal-screen.tsx"));

/** Terminals of the session. They keep running without this page, and are restored after a reload. */
export default function TerminalPanel(props: { readonly view: SessionView }): JSX.Element {
  const daemon = useDaemon();
  const stored = storedValue(`terminal.${props.view.id}`, (value) =>
    typeof value === "string" ? value : undefined,
  );
  const [terminals, setTerminals] = createSignal<readonly TerminalSummary[]>();
  const [shown, setShown] = createSignal<string>();
  const [state, setState] = createSignal<TerminalViewState>();
  const [problem, setProblem] = createSignal<string>();
  let terminalView: TerminalView | undefined;
  let tabs!: HTMLDivElement;

  const selectTerminal = (id: string | undefined): void => {
    setState(undefined);
    setShown(id);
    stored.write(id);
  };

  const attempt = async (run: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    try {
      await run();
    } catch (error) {
      setProblem(explainError(error));
    }
  };

  const params = { sessionId: props.view.id };
  const refresh = async (): Promise<void> =>
    attempt(async () => {
      const { data } = await daemon.client.request("GET /sessions/{sessionId}/terminals", { params });
      setTerminals(data);
      if (!data.some(({ id }) => id === shown())) selectTerminal(chooseTerminal(data, stored.read()));
    });
  const open = async (): Promise<void> =>
    attempt(async () => {
      const terminal = await daemon.client.request("POST /sessions/{sessionId}/terminals", {
        params,
        body: {},
      });
      setTerminals((known) => [...(known ?? []), terminal]);
      selectTerminal(terminal.id);
    });
  const end = async (terminalId: string): Promise<void> =>
    attempt(async () => {
      await daemon.client.request("DELETE /sessions/{sessionId}/terminals/{terminalId}", {
        params: { ...params, terminalId },
      });
      await refresh();
    });
  onMount(() => void refresh());

  const leave = (): void => tabs.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();

  return (
    <div class="terminal-panel">
      <div class="terminal-bar">
        <div class="terminal-tabs" role="tablist" aria-label="Terminals" ref={(element) => (tabs = element)}>
          <For each={terminals()}>
            {(terminal) => (
              <button
                type="button"
                role="tab"
                class="button button-quiet"
                id={`terminal-tab-${terminal.id}`}
                aria-selected={terminal.id === shown()}
                aria-controls="terminal-view"
                onClick={() => selectTerminal(terminal.id)}
              >
                {terminalTitle(terminal, terminals() ?? [])}
              </button>
            )}
          </For>
        </div>
        <Show when={daemon.can("write")}>
          <button type="button" class="button" onClick={() => void open()}>
            New terminal
          </button>
        </Show>
        <label class="terminal-option">
          <input
            type="checkbox"
            checked={preferences().terminalScreenReader}
            onChange={(event) => changePreferences({ terminalScreenReader: event.currentTarget.checked })}
          />
          Screen reader
        </label>
      </div>
      <ProblemText text={problem()} />
      <Show
        when={shown()}
        keyed
        fallback={
          <Show when={terminals()?.length === 0}>
            <p class="muted terminal-empty">
              No terminal is open. A terminal runs on the machine of the session, as the user of the daemon
              and outside the sandbox.
            </p>
          </Show>
        }
      >
        {(terminalId) => (
          <div
            class="terminal-view"
            id="terminal-view"
            role="tabpanel"
            aria-labelledby={`terminal-tab-${terminalId}`}
            data-connection={state()?.connection ?? "connecting"}
            data-writer={state()?.writer ?? "none"}
          >
            <div class="terminal-status">
              <span role="status">{describe(state())}</span>
              <Show when={state()?.writer === "other" || state()?.writer === "none"}>
                <Show when={daemon.can("write") && state()?.connection === "attached"}>
                  <button type="button" class="button" onClick={() => terminalView?.takeInput()}>
                    Take over the input
                  </button>
                </Show>
              </Show>
              <Show when={daemon.can("write")}>
                <button
                  type="button"
                  class="button button-quiet button-danger"
                  onClick={() => void end(terminalId)}
                >
                  {state()?.connection === "ended" ? "Close" : "End"}
                </button>
              </Show>
            </div>
            <Suspense fallback={<p class="muted terminal-empty">Loading…</p>}>
              <TerminalScreen
                sessionId={props.view.id}
                terminalId={terminalId}
                onState={setState}
                onReady={(view) => (terminalView = view)}
                onLeave={leave}
              />
            </Suspense>
            <p class="terminal-hint muted">All keys go to the shell. Ctrl+Shift+Esc leaves the terminal.</p>
          </div>
        )}
      </Show>
    </div>
  );
}

function describe(state: TerminalViewState | undefined): string {
  switch (state?.connection) {
    case "attached":
      return { self: "Attached", other: "Another viewer has the input", none: "Read only" }[state.writer];
    case "disconnected":
      return "Reconnecting…";
    case "ended":
      return `The program has ended${state.exitCode === null ? "" : ` with exit code ${state.exitCode}`}.`;
    case "failed":
      return `Can't attach to the terminal: ${state.problem ?? "unknown reason"}`;
    default:
      return "Connecting…";
  }
}
