import type { DaemonClient, TerminalConnection } from "@codexkit/daemon/client";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal, type ITheme } from "@xterm/xterm";
import { readNonce, withStyleNonce } from "./style-nonce.ts";

export interface TerminalViewOptions {
  readonly client: DaemonClient;
  readonly sessionId: string;
  readonly terminalId: string;
  /** The element that shows the terminal. */
  readonly host: HTMLElement;
  readonly screenReader: boolean;
  /** Whether this viewer requests the input when no other viewer has it. */
  readonly takeInput: boolean;
  readonly onState: (state: TerminalViewState) => void;
  /** Called when the user leaves the terminal with the keyboard. */
  readonly onLeave: () => void;
}

export interface TerminalViewState {
  readonly connection: "connecting" | "attached" | "disconnected" | "ended" | "failed";
  /** self: this page. other: another viewer. none: no viewer. */
  readonly writer: "self" | "other" | "none";
  readonly exitCode?: number | null;
  readonly problem?: string;
}

export interface TerminalView {
  readonly focus: () => void;
  readonly takeInput: () => void;
  readonly setScreenReader: (isOn: boolean) => void;
  readonly dispose: () => void;
}

/** Shows a terminal of the daemon. The writer determines the size. Other viewers scroll if their area is smaller. */
export function createTerminalView(options: TerminalViewOptions): TerminalView {
  const { client, sessionId, terminalId, host, screenReader, takeInput, onState, onLeave } = options;
  const controller = new AbortController();
  const terminal = new Terminal({
    fontFamily: readVariable("--mono") || "monospace",
    fontSize: 13,
    cursorBlink: false,
    scrollback: 5000,
    screenReaderMode: screenReader,
    theme: readTheme(),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  // xterm.js creates its style elements when it is opened.
  withStyleNonce(document, readNonce(document), () => terminal.open(host));
  let state: TerminalViewState = { connection: "connecting", writer: "none" };
  const change = (next: Partial<TerminalViewState>): void => {
    state = { ...state, ...next };
    // xterm.js reads the option for each key.
    terminal.options.disableStdin = state.writer !== "self";
    onState(state);
  };
  /** Requests the size that fits. The daemon responds with a screen of that size. */
  const requestSize = (): void => {
    const size = fit.proposeDimensions();
    if (state.writer !== "self" || !size || !(size.cols > 1) || !(size.rows > 0)) return;
    if (size.cols !== terminal.cols || size.rows !== terminal.rows) connection.resize(size.cols, size.rows);
  };
  const connection: TerminalConnection = client.attachTerminal(sessionId, terminalId, {
    signal: controller.signal,
    onScreen: ({ screen, columns, rows }) => {
      change({ connection: "attached" });
      terminal.reset();
      terminal.resize(columns, rows);
      terminal.write(screen);
    },
    onOutput: (bytes) => {
      if (state.connection !== "attached") change({ connection: "attached" });
      terminal.write(bytes);
    },
    onWriter: ({ viewerId, isSelf }) => {
      if (takeInput && viewerId === null) connection.takeWriter();
      change({ writer: isSelf ? "self" : viewerId === null ? "none" : "other" });
      requestSize();
    },
    onProblem: ({ detail }) => change({ problem: detail }),
    onDisconnect: () => change({ connection: "disconnected", writer: "none" }),
  });
  connection.ended.then(
    (exitCode) => {
      if (exitCode !== undefined) change({ connection: "ended", writer: "none", exitCode });
    },
    (error: unknown) => change({ connection: "failed", problem: String(error) }),
  );
  terminal.onData((data) => connection.input(data));
  terminal.attachCustomKeyEventHandler((event) => {
    if (!isLeaveKey(event)) return true;
    if (event.type === "keydown") onLeave();
    event.preventDefault();
    return false;
  });
  const observer = new ResizeObserver(() => requestSize());
  observer.observe(host);
  const themes = matchMedia("(prefers-color-scheme: dark)");
  const applyTheme = (): void => void (terminal.options.theme = readTheme());
  themes.addEventListener("change", applyTheme);
  return {
    focus: () => terminal.focus(),
    takeInput: () => {
      connection.takeWriter();
      terminal.focus();
    },
    setScreenReader: (isOn) => void (terminal.options.screenReaderMode = isOn),
    dispose: () => {
      themes.removeEventListener("change", applyTheme);
      observer.disconnect();
      controller.abort();
      terminal.dispose();
    },
  };
}

/**
 * All other keys are sent to the shell. Browsers and systems may reserve Ctrl+Shift+Escape, so Ctrl+Shift+Backspace does the
 * same.
 */
function isLeaveKey({ key, ctrlKey, shiftKey }: KeyboardEvent): boolean {
  return ctrlKey && shiftKey && (key === "Escape" || key === "Backspace");
}

function readTheme(): ITheme {
  const background = resolveColor("--bg");
  const foreground = resolveColor("--text");
  return {
    background,
    foreground,
    cursor: foreground,
    cursorAccent: background,
    selectionBackground: resolveColor("--accent-soft"),
  };
}

function readVariable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The current colour of a custom property. xterm.js does not support `light-dark()`. */
function resolveColor(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
