import { createResource, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { loadedValue } from "../ui/index.ts";
import "./credentials-hint.css";

/** Shown if there are no credentials: where they were searched for, and how to use the demo without them. */
export function CredentialsHint(): JSX.Element {
  const { client } = useDaemon();
  const [status] = createResource(async () => client.request("GET /credentials").catch(() => undefined));
  return (
    <Show when={loadedValue(status)?.kind === "none" || loadedValue(status)?.kind === "unusable"}>
      <section class="credentials-hint" aria-label="Credentials">
        <h2>Codex has no credentials</h2>
        <p>
          {loadedValue(status)?.reason ??
            "The daemon looked for CODEX_API_KEY and OPENAI_API_KEY in its environment, and for a login in the Codex home of its user."}
        </p>
        <p>
          Run <code>codexkit login</code> and start the daemon again, or start it with{" "}
          <code>codexkit serve --demo</code>: a scripted model answers, and Codex and its commands are real.
        </p>
      </section>
    </Show>
  );
}
