import { createEffect } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { navigate } from "../routing/index.ts";
import { lastSession } from "./last-session.ts";

/**
 * Redirects to the inbox if an approval is open, else to the last session, else to the list of sessions, which explains how to
 * begin.
 */
export function HomeScreen() {
  const { inbox, sessions, isLoaded } = useDaemon();
  createEffect(() => {
    if (!isLoaded()) return;
    const last = sessions().find(({ id }) => id === lastSession.read()) ?? sessions()[0];
    if (inbox().length > 0) navigate("/inbox", { replace: true });
    else if (last) navigate(`/s/${encodeURIComponent(last.id)}`, { replace: true });
    else navigate("/sessions", { replace: true });
  });
  return <h1 class="visually-hidden">codexkit</h1>;
}
