import { createEffect, createSignal, Match, on, onCleanup, Show, Switch } from "solid-js";
import { type ConnectionState, useDaemon } from "../feed/index.ts";
import { announce, formatCount } from "../ui/index.ts";
import { isOutdated } from "./page-effects.ts";

const LABELS: Readonly<Record<ConnectionState, string>> = {
  connecting: "Connecting",
  live: "Live",
  behind: "Catching up",
  reconnecting: "Reconnecting",
  down: "Offline",
  "signed-out": "Signed out",
};

/** Interruptions shorter than this don't change the colour. */
const AMBER_AFTER_MS = 3_000;

/** The connection's state as a dot in the banner. */
export function ConnectionDot() {
  const { connection } = useDaemon();
  const [isLate, setLate] = createSignal(false);
  createEffect(
    on(
      () => connection().state,
      (state) => {
        setLate(state === "down");
        if (state !== "reconnecting" && state !== "connecting") return;
        const timer = setTimeout(() => setLate(true), AMBER_AFTER_MS);
        onCleanup(() => clearTimeout(timer));
      },
    ),
  );
  const isGood = (): boolean => !isLate() && connection().state !== "down";
  return (
    <span class="connection" data-state={isGood() ? "live" : connection().state}>
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-label">
        {isGood() && connection().state !== "behind" ? LABELS.live : LABELS[connection().state]}
      </span>
    </span>
  );
}

/** The line below the banner while the page is not up to date. The page stays usable. */
export function ConnectionBar() {
  const { connection, reconnect } = useDaemon();
  createEffect(
    on(
      () => connection().state,
      (state, previous) => {
        if (state === "down") announce("The daemon can't be reached");
        if (state === "live" && previous === "down") announce("Connected again");
      },
    ),
  );
  return (
    <Switch>
      <Match when={connection().state === "down"}>
        <div class="connection-bar" data-tone="danger" role="status">
          <span>
            The daemon can't be reached.
            <Show when={connection().dataFrom}>
              {(at) => <> What you see is from {new Date(at()).toLocaleTimeString()}.</>}
            </Show>{" "}
            Start it with <code>codexkit serve</code>.
          </span>
          <button type="button" class="button" onClick={reconnect}>
            Retry now
          </button>
        </div>
      </Match>
      <Match when={isOutdated()}>
        <div class="connection-bar" role="status">
          <span>A new version of this page is available. Drafts are kept.</span>
          <button type="button" class="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </Match>
      <Match when={connection().state === "behind"}>
        <div class="connection-bar" role="status">
          <span>Catching up, {formatCount(connection().pending)} events</span>
          <progress aria-label="Catching up" />
        </div>
      </Match>
    </Switch>
  );
}
