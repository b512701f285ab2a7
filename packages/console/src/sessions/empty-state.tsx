import { createResource, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { CredentialsHint } from "../new-session/credentials-hint.tsx";
import { loadedValue } from "../ui/index.ts";

/** Shown if there are no sessions: how to begin, and threads of the Codex CLI that can be continued. */
export function EmptyState(): JSX.Element {
  const { client } = useDaemon();
  const [threads] = createResource(async () =>
    client.threads.list({ limit: 5 }).then(
      ({ data }) => data,
      () => [],
    ),
  );
  return (
    <div class="sessions-empty">
      <h2>No session yet</h2>
      <CredentialsHint />
      <ul>
        <li>
          <a href={toHref("/new")}>Start a session here</a>
        </li>
        <li>
          In a terminal: <code>codexkit run --daemon "Explain this repository"</code>
        </li>
        <li>
          With curl:{" "}
          <code>
            curl -H "Authorization: Bearer $CODEXKIT_TOKEN" {location.origin}/sessions --json '
            {`{"cwd":"$PWD"}`}'
          </code>
        </li>
        <Show when={(loadedValue(threads)?.length ?? 0) > 0}>
          <li>
            <a href={toHref("/sessions?from=cli")}>Continue a thread of the Codex CLI</a> (
            {loadedValue(threads)?.length} recent)
          </li>
        </Show>
      </ul>
    </div>
  );
}
