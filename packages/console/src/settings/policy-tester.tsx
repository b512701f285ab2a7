import type { PolicyVerdict } from "@codexkit/daemon/client";
import { createSignal, For, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { sessionTitle } from "./session-title.ts";
import { explainError } from "./explain-error.ts";
import { FormField } from "../ui/form-field.tsx";
import { ProblemText } from "../ui/index.ts";

const DECISIONS = { allow: "Allowed", ask: "Asks you", deny: "Denied" } as const;

/** Shows the policy's verdict on a command without running the command. */
export function PolicyTester(): JSX.Element {
  const { client, sessions } = useDaemon();
  const [sessionId, setSessionId] = createSignal<string>();
  const [command, setCommand] = createSignal("");
  const [verdict, setVerdict] = createSignal<PolicyVerdict>();
  const [problem, setProblem] = createSignal<string>();
  const chosen = () => sessions().find(({ id }) => id === sessionId()) ?? sessions()[0];

  const test = async (): Promise<void> => {
    const session = chosen();
    if (!session || command().trim() === "") return;
    setProblem(undefined);
    try {
      setVerdict(
        await client.request("POST /sessions/{sessionId}/policy/test", {
          params: { sessionId: session.id },
          body: { command: command() },
        }),
      );
    } catch (error) {
      setVerdict(undefined);
      setProblem(explainError(error));
    }
  };

  return (
    <section aria-labelledby="settings-policy">
      <h2 id="settings-policy">Policy</h2>
      <Show
        when={chosen()}
        fallback={<p class="muted">The policy belongs to a session. Start one to test commands.</p>}
      >
        {(session) => (
          <form
            class="policy-form"
            onSubmit={(event) => {
              event.preventDefault();
              void test();
            }}
          >
            <FormField
              id="policy-session"
              label="Session"
              value={session().id}
              onInput={(value) => setSessionId(value)}
            >
              {(control) => (
                <select {...control}>
                  <For each={sessions()}>
                    {(candidate) => (
                      <option value={candidate.id} selected={candidate.id === session().id}>
                        {sessionTitle(candidate)}
                      </option>
                    )}
                  </For>
                </select>
              )}
            </FormField>
            <p class="muted">
              Permissions: {session().settings.permissionMode}, agent mode: {session().settings.agentMode},
              approvals: {session().settings.approvalPolicy}
            </p>
            <FormField
              id="policy-command"
              label="Test a command"
              value={command()}
              onInput={(value) => setCommand(value)}
            >
              {(control) => (
                <input
                  {...control}
                  class="input policy-command"
                  placeholder="npm test && docker compose up -d"
                  autocomplete="off"
                  spellcheck={false}
                />
              )}
            </FormField>
            <button type="submit" class="button">
              Test
            </button>
          </form>
        )}
      </Show>
      <ProblemText text={problem()} />
      <div role="status">
        <Show when={verdict()}>
          {(result) => (
            <div class="policy-verdict" data-decision={result().decision}>
              <p>
                <strong>{DECISIONS[result().decision]}</strong>: {result().reason}{" "}
                <code>{result().rule}</code>
              </p>
              <Show when={result().segments.length > 0}>
                <table>
                  <caption class="visually-hidden">Commands that would run</caption>
                  <thead>
                    <tr>
                      <th scope="col">Command</th>
                      <th scope="col">Verdict</th>
                      <th scope="col">Reason</th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={result().segments}>
                      {({ command: segment, decision, reason, rule }) => (
                        <tr data-decision={decision}>
                          <th scope="row">
                            <code>{segment}</code>
                          </th>
                          <td>{DECISIONS[decision]}</td>
                          <td>
                            {reason} <code>{rule}</code>
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </Show>
            </div>
          )}
        </Show>
      </div>
    </section>
  );
}
