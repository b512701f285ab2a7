import { createEffect, type JSX, on, onCleanup, onMount } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { preferences } from "../settings/preferences.ts";
import { createTerminalView, type TerminalView, type TerminalViewState } from "./create-terminal-view.ts";
import "@xterm/xterm/css/xterm.css";

/** The chunk with xterm.js, which is loaded when the first terminal is shown. */
export default function TerminalScreen(props: {
  readonly sessionId: string;
  readonly terminalId: string;
  readonly onState: (state: TerminalViewState) => void;
  readonly onReady: (view: TerminalView) => void;
  readonly onLeave: () => void;
}): JSX.Element {
  const daemon = useDaemon();
  let host!: HTMLDivElement;
  onMount(() => {
    const view = createTerminalView({
      client: daemon.client,
      sessionId: props.sessionId,
      terminalId: props.terminalId,
      host,
      screenReader: preferences().terminalScreenReader,
      takeInput: daemon.can("write"),
      onState: (state) => props.onState(state),
      onLeave: () => props.onLeave(),
    });
    onCleanup(view.dispose);
    createEffect(
      on(
        () => preferences().terminalScreenReader,
        (isOn) => view.setScreenReader(isOn),
      ),
    );
    props.onReady(view);
  });
  return <div class="terminal-host" ref={(element) => (host = element)} />;
}
