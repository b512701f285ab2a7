import { For, type JSX } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import "./shell.css";

/** Banner, navigation and the main region around every screen. */
export function Shell(props: { readonly children: JSX.Element }) {
  const { connection, inbox, sessions } = useDaemon();
  return (
    <div class="shell">
      <header class="banner">
        <span role="status">{connection().state}</span>
        <a href={toHref("/inbox")}>Inbox {inbox().length}</a>
      </header>
      <nav class="nav" aria-label="Sessions">
        <ul>
          <For each={sessions()}>
            {(session) => (
              <li>
                <a href={toHref(`/s/${session.id}`)}>{session.name ?? session.preview ?? session.id}</a>
              </li>
            )}
          </For>
        </ul>
      </nav>
      <main class="main" id="main" tabindex="-1">
        {props.children}
      </main>
    </div>
  );
}
