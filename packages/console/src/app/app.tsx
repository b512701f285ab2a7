import { type JSX, lazy, Match, onCleanup, Suspense, Switch } from "solid-js";
import { DaemonContext } from "../feed/daemon-context.ts";
import type { DaemonFeed } from "../feed/index.ts";
import { keyRegistry } from "../keys/index.ts";
import { interceptLinks, route, type RouteName } from "../routing/index.ts";
import { FailureBoundary } from "../ui/index.ts";
import { useAppKeys } from "./app-keys.ts";
import { HomeScreen } from "./home-screen.tsx";
import { Overlays } from "./overlays.tsx";
import { usePageEffects } from "./page-effects.ts";
import { Shell } from "./shell.tsx";

const screens: Readonly<Record<RouteName, () => JSX.Element>> = {
  home: HomeScreen,
  inbox: lazy(async () => import("../inbox/inbox-screen.tsx")),
  sessions: lazy(async () => import("../sessions/sessions-screen.tsx")),
  session: lazy(async () => import("./session-screen.tsx")),
  newSession: lazy(async () => import("../new-session/new-session-screen.tsx")),
  usage: lazy(async () => import("../usage/usage-screen.tsx")),
  settings: lazy(async () => import("../settings/settings-screen.tsx")),
  nodes: lazy(async () => import("../nodes/nodes-screen.tsx")),
  login: lazy(async () => import("../login/login-screen.tsx")),
  pair: lazy(async () => import("../login/pair-screen.tsx")),
  replay: lazy(async () => import("../replay/replay-screen.tsx")),
};

export function App(props: { readonly feed: DaemonFeed }) {
  document.addEventListener("click", interceptLinks);
  const onKeyDown = (event: KeyboardEvent): void => keyRegistry.handle(event, event.target);
  document.addEventListener("keydown", onKeyDown);
  onCleanup(() => {
    document.removeEventListener("click", interceptLinks);
    document.removeEventListener("keydown", onKeyDown);
  });
  useAppKeys(props.feed);
  usePageEffects(props.feed);
  const LoginScreen = screens.login;
  return (
    <DaemonContext.Provider value={props.feed}>
      <Switch
        fallback={
          <Shell>
            <Suspense>
              <CurrentScreen />
            </Suspense>
          </Shell>
        }
      >
        <Match when={route()?.name === "login" || props.feed.connection().state === "signed-out"}>
          <main>
            <Suspense>
              <FailureBoundary>
                <LoginScreen />
              </FailureBoundary>
            </Suspense>
          </main>
        </Match>
      </Switch>
      <Overlays />
    </DaemonContext.Provider>
  );
}

function CurrentScreen() {
  return (
    <Switch fallback={<NotFound />}>
      {(Object.keys(screens) as RouteName[]).map((name) => {
        const Screen = screens[name];
        return (
          <Match when={route()?.name === name}>
            <FailureBoundary>
              <Screen />
            </FailureBoundary>
          </Match>
        );
      })}
    </Switch>
  );
}

function NotFound() {
  return (
    <section class="screen">
      <h1>There is no such page</h1>
      <p>
        <a href="/console/inbox">Go to the inbox</a>
      </p>
    </section>
  );
}
