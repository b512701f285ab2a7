import { createResource, createSignal, For, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { formatDuration, loadedValue, ProblemText } from "../ui/index.ts";
import { explainError } from "./explain-error.ts";

/** Lists tokens and logins of the daemon, which can be revoked one by one. */
export function LoginList(): JSX.Element {
  const daemon = useDaemon();
  const [problem, setProblem] = createSignal<string>();
  const [tokens, { refetch }] = createResource(async () =>
    daemon.client.request("GET /tokens").then(
      ({ data }) => data.filter(({ revokedAt }) => revokedAt === null),
      () => [],
    ),
  );
  const revoke = async (tokenId: string): Promise<void> => {
    try {
      await daemon.client.request("DELETE /tokens/{tokenId}", { params: { tokenId } });
      await refetch();
    } catch (error) {
      setProblem(explainError(error));
    }
  };
  return (
    <details class="login-list">
      <summary>Tokens and signed-in devices ({loadedValue(tokens)?.length ?? 0})</summary>
      <ProblemText text={problem()} />
      <ul>
        <For each={loadedValue(tokens)}>
          {({ id, name, scopes, lastUsedAt }) => (
            <li>
              <span class="login-name">
                {name}
                {id === daemon.identity()?.id ? " (this browser)" : ""}
              </span>
              <span class="muted">
                {scopes.join(", ")}
                {lastUsedAt === null ? "" : `, used ${formatDuration(daemon.clock() - lastUsedAt)} ago`}
              </span>
              <Show when={id !== daemon.identity()?.id}>
                <button
                  type="button"
                  class="button button-quiet button-danger"
                  aria-label={`Revoke ${name}`}
                  onClick={() => void revoke(id)}
                >
                  Revoke
                </button>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </details>
  );
}
