import type { InboxRequest, PolicyVerdict, Session } from "@codexkit/daemon/client";
import { For, Show } from "solid-js";
import { CopyButton } from "../ui/index.ts";
import { describeSandbox } from "./describe-request.ts";
import { permissionView } from "./permission-rows.ts";
import { RequestReason } from "./request-reason.tsx";
import { VisibleText } from "../ui/visible-text-view.tsx";
import { splitShell } from "./shell-script.ts";
import { VerdictTable } from "./verdict-table.tsx";

type CommandRequest = Extract<InboxRequest, { kind: "command" }>;

export function CommandBody(props: {
  readonly request: CommandRequest;
  readonly verdict: PolicyVerdict | null;
  readonly settings: Session["settings"] | undefined;
}) {
  const command = () => splitShell(props.request.command ?? "");
  return (
    <>
      <Show when={props.request.command}>
        {(whole) => (
          <div class="approval-command">
            {/* It scrolls if it is long, and what scrolls can be reached by the keyboard. */}
            <pre tabindex="0" role="group" aria-label="Command">
              <Show when={props.request.cwd}>
                {(cwd) => (
                  <span class="approval-prompt">
                    <VisibleText text={cwd()} /> ${" "}
                  </span>
                )}
              </Show>
              <code>
                <VisibleText text={command().script} />
              </code>
            </pre>
            <CopyButton text={() => whole()} label="Copy the command" />
          </div>
        )}
      </Show>
      <Show when={command().shell}>
        {(shell) => (
          <p class="approval-note">
            Runs through <code>{shell()}</code>
          </p>
        )}
      </Show>
      <Show when={props.verdict}>{(verdict) => <VerdictTable verdict={verdict()} />}</Show>
      <RequestReason reason={props.request.reason} />
      <Show when={describeSandbox(props.request, props.settings)}>
        {(text) => <p class="approval-note">Sandbox: {text()}</p>}
      </Show>
      <Show when={props.request.additionalPermissions}>
        {(permissions) => (
          <ul class="approval-paths" aria-label="Permissions of this command">
            <For each={permissionView(permissions()).rows}>
              {({ access, label }) => (
                <li>
                  <span class="approval-access">{access}</span>{" "}
                  <code>
                    <VisibleText text={label} />
                  </code>
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
    </>
  );
}
