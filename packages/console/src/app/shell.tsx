import { createSignal, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { route, routeParam, toHref } from "../routing/index.ts";
import { announcement, Icon, type IconName } from "../ui/index.ts";
import { ConnectionBar, ConnectionDot } from "./connection-status.tsx";
import { openKeySheet, openPalette } from "./overlays.tsx";
import { SessionNav } from "./session-nav.tsx";
import "./shell.css";

/** Banner, navigation and the main region around every screen. */
export function Shell(props: { readonly children: JSX.Element }) {
  const { inbox, isFleet } = useDaemon();
  const [lastSession, setLastSession] = createSignal<string>();
  let main!: HTMLElement;
  const sessionHref = (): string => {
    const id = routeParam("id");
    if (id !== undefined && id !== lastSession()) setLastSession(id);
    const last = id ?? lastSession();
    return toHref(last === undefined ? "/" : `/s/${encodeURIComponent(last)}`);
  };
  return (
    <div class="shell">
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // Not a navigation, whose hash would be read as the ID of an item.
          event.preventDefault();
          main.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="banner">
        <a class="brand" href={toHref("/")}>
          codexkit
        </a>
        <ConnectionDot />
        <button type="button" class="palette-button" onClick={openPalette}>
          <Icon name="search" />
          <span>Search or command</span>
          <kbd class="key">{isMac() ? "⌘" : "Ctrl"} K</kbd>
        </button>
        <div class="banner-links">
          <a href={toHref("/inbox")} aria-current={route()?.name === "inbox" ? "page" : undefined}>
            <Icon name="inbox" />
            <span>Inbox</span>
            <InboxBadge count={inbox().length} />
          </a>
          <a href={toHref("/usage")} aria-current={route()?.name === "usage" ? "page" : undefined}>
            <Icon name="usage" />
            <span>Usage</span>
          </a>
          <Show when={isFleet()}>
            <a href={toHref("/nodes")} aria-current={route()?.name === "nodes" ? "page" : undefined}>
              <Icon name="link" />
              <span>Nodes</span>
            </a>
          </Show>
          <a href={toHref("/settings")} aria-label="Settings" title="Settings">
            <Icon name="gear" />
          </a>
          <button
            type="button"
            class="icon-button"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts"
            onClick={openKeySheet}
          >
            ?
          </button>
        </div>
      </header>
      <ConnectionBar />
      <SessionNav />
      <main ref={main} class="main" id="main" tabindex="-1">
        {props.children}
      </main>
      <nav class="bottom-bar" aria-label="Main">
        <BottomLink href={toHref("/inbox")} icon="inbox" label="Inbox" isCurrent={route()?.name === "inbox"}>
          <InboxBadge count={inbox().length} />
        </BottomLink>
        <BottomLink
          href={toHref("/sessions")}
          icon="list"
          label="Sessions"
          isCurrent={route()?.name === "sessions"}
        />
        <BottomLink
          href={sessionHref()}
          icon="sessions"
          label="Session"
          isCurrent={route()?.name === "session"}
        />
        <button type="button" onClick={openPalette}>
          <Icon name="more" />
          More
        </button>
      </nav>
      <div class="visually-hidden" role="status" aria-live="polite">
        {announcement()}
      </div>
    </div>
  );
}

function BottomLink(props: {
  readonly href: string;
  readonly icon: IconName;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly children?: JSX.Element;
}) {
  return (
    <a href={props.href} aria-current={props.isCurrent ? "page" : undefined}>
      <Icon name={props.icon} />
      {props.label}
      {props.children}
    </a>
  );
}

function InboxBadge(props: { readonly count: number }) {
  return (
    <Show when={props.count > 0}>
      <span class="badge">
        {props.count}
        <span class="visually-hidden"> waiting</span>
      </span>
    </Show>
  );
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
