import { createEffect } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { navigate, toHref } from "../routing/index.ts";

/** Goes to the inbox if something waits, else to the newest session. */
export function HomeScreen() {
  const { inbox, sessions, connection } = useDaemon();
  createEffect(() => {
    if (connection().state !== "live") return;
    const newest = sessions()[0];
    if (inbox().length > 0) navigate("/inbox", { replace: true });
    else if (newest) navigate(`/s/${encodeURIComponent(newest.id)}`, { replace: true });
  });
  return (
    <section class="screen">
      <h1>No session yet</h1>
      <p>
        <a href={toHref("/new")}>Start one</a>
      </p>
    </section>
  );
}
