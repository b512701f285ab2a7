import { type InboxRequest, type PolicyVerdict, type Session, splitShell } from "@codexkit/daemon/client";
import { For, Show } from "solid-js";
import { CopyButton } from "../ui/index.ts";
import { describeSandbox } from "./describe-request.ts";
import { LongText } from "./long-text.tsx";
import { permissionView } from "./permission-rows.ts";
import { RequestReason } from "./request-reason.tsx";
import { VisibleText } from "../ui/visible-text-view.tsx";
import { VerdictTable } from "./verdict-table.tsx";

type CommandRequest = Extract<InboxRequest, { kind: "command" }>;

export function CommandBody(props: {
  readonly request: CommandRequest;
  readonly verdict: PolicyVerdict | null;
  readonly settings: Session["settings"] | undefined;
  /** Called when the end of the command has been in view. */
  readonly onSeen?: (() => void) | undefined;
}) {
  const command = () => splitShell(props.request.command ?? "");
  return (
    <>
      <Show when={props.request.command}>
        {(whole) => (
          <div class="approval-command">
            <LongText
              label="Command"
              text={command().script}
              onSeen={() => props.onSeen?.()}
              prompt={
                <Show when={props.request.cwd}>
                  {(cwd) => (
                    <span class="approval-prompt">
                      <VisibleText text={cwd()} /> ${" "}
                    </span>
                  )}
                </Show>
              }
            />
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
