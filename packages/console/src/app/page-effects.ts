import type { Approval } from "@codexkit/daemon/client";
import { createEffect, createMemo, createSignal, on } from "solid-js";
import type { DaemonFeed } from "../feed/index.ts";
import { keyRegistry } from "../keys/index.ts";
import { navigate, route, routeParam, toHref } from "../routing/index.ts";
import { preferences } from "../settings/preferences.ts";
import { sessionTitle } from "../settings/session-title.ts";

const PAGE_TITLES: Readonly<Record<string, string>> = {
  inbox: "Inbox",
  sessions: "Sessions",
  newSession: "New session",
  usage: "Usage",
  settings: "Settings",
  nodes: "Nodes",
  login: "Log in",
  pair: "Pair a device",
  replay: "Replay",
};

/** Effects outside of the page's elements: theme, title, icon, badge and notifications. */
export function usePageEffects(feed: DaemonFeed): void {
  createEffect(() => {
    const { singleKeys, keys } = preferences();
    keyRegistry.settings = { singleKeys, changed: keys };
  });

  createEffect(
    on(
      () => feed.connection().state,
      (state, previous) => {
        const wasLost = previous === "down" || previous === "reconnecting";
        if (state === "live" && wasLost) checkVersion().catch(() => undefined);
      },
    ),
  );

  let user: string | undefined;
  createEffect(() => {
    const name = feed.identity()?.name;
    if (name === undefined) return;
    // The page's data and drafts belong to the person who was signed in before.
    if (user !== undefined && user !== name) location.reload();
    user = name;
  });

  const waiting = createMemo(() => feed.inbox().length);
  createEffect(() => {
    const session = feed.session(routeParam("id") ?? "");
    const page = session ? sessionTitle(session) : PAGE_TITLES[route()?.name ?? ""];
    const count = waiting() > 0 ? `(${waiting()}) ` : "";
    document.title = `${count}${page === undefined ? "" : `${page} · `}codexkit`;
  });
  createEffect(on(waiting, updateIcon));

  /** Approvals that were waiting before. Undefined until the inbox has been read: what it has then is not new. */
  let known: ReadonlySet<string> | undefined;
  createEffect(
    on([feed.isLoaded, feed.inbox], ([isLoaded, inbox]) => {
      if (!isLoaded) return;
      const before = known;
      known = new Set(inbox.map(({ id }) => id));
      if (before) for (const approval of inbox) if (!before.has(approval.id)) notify(feed, approval);
    }),
  );
}

/** Shows a notification of a new approval while the page is hidden. */
function notify(feed: DaemonFeed, { id, sessionId, kind }: Approval): void {
  if (!preferences().notifications || !document.hidden) return;
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const session = feed.session(sessionId);
  try {
    // Contains neither the command nor the files, because other people may see notifications.
    const notification = new Notification(session ? sessionTitle(session) : "codexkit", {
      body: `Waiting for an answer: ${kind}`,
      tag: id,
    });
    notification.addEventListener("click", () => {
      window.focus();
      navigate(`/inbox#${encodeURIComponent(id)}`);
      notification.close();
    });
  } catch {
    // Chrome on Android supports only notifications of service workers. The badge and the title still change.
  }
}

const [isOutdated, setOutdated] = createSignal(false);

/** Whether the daemon serves another version of this page than the loaded one. */
export { isOutdated };

/** Compares the script of this page with the one that the daemon serves now. */
async function checkVersion(): Promise<void> {
  const script = document.querySelector<HTMLScriptElement>("script[type=module][src]");
  if (!script) return;
  const response = await fetch(toHref("/"), { cache: "no-store" });
  const text = response.ok ? await response.text() : "";
  const path = new URL(script.src).pathname;
  if (text.includes("<script") && !text.includes(path)) setOutdated(true);
}

/** Shows a dot on the tab's icon, and a number on the icon of the installed app. */
function updateIcon(count: number): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const name = count > 0 ? "icon-waiting.svg" : "icon.svg";
  if (link && !link.href.endsWith(`/${name}`)) link.href = `/console/${name}`;
  const { setAppBadge, clearAppBadge } = navigator as Partial<Navigator>;
  const change = count > 0 ? setAppBadge?.call(navigator, count) : clearAppBadge?.call(navigator);
  change?.catch(() => undefined);
}
