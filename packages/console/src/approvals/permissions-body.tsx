import type { InboxRequest } from "@codexkit/daemon/client";
import { For, Show } from "solid-js";
import type { Answering } from "./answering.ts";
import { isSeparate, type PermissionRow, permissionView } from "./permission-rows.ts";
import { RequestReason } from "./request-reason.tsx";
import { VisibleText } from "../ui/visible-text-view.tsx";

type PermissionsRequest = Extract<InboxRequest, { kind: "permissions" }>;

const ACCESS = { network: "network", read: "read", write: "read and write" } as const;

export function PermissionsBody(props: {
  readonly request: PermissionsRequest;
  readonly answering: Answering;
  readonly isReadOnly: boolean;
}) {
  const view = () => permissionView(props.request.permissions);
  const ticked = () => new Set(props.answering.draft().ticked);
  const separate = () => view().rows.filter((row) => isSeparate(row));
  const isWhole = () => view().rows.every(({ key }) => ticked().has(key));

  function toggle(row: PermissionRow, isTicked: boolean): void {
    const keys = new Set(props.answering.draft().ticked);
    if (isTicked) keys.add(row.key);
    else keys.delete(row.key);
    // A row that can't be granted separately can only be selected together with all other rows.
    const isComplete = separate().every(({ key }) => keys.has(key)) && separate().length > 0;
    for (const other of view().rows) {
      if (isSeparate(other)) continue;
      if (isComplete) keys.add(other.key);
      else keys.delete(other.key);
    }
    props.answering.update({ ticked: [...keys] });
  }

  function toggleAll(isTicked: boolean): void {
    props.answering.update({ ticked: isTicked ? view().rows.map(({ key }) => key) : [] });
  }

  return (
    <>
      <p class="approval-note">
        In{" "}
        <code>
          <VisibleText text={props.request.cwd} />
        </code>
      </p>
      <RequestReason reason={props.request.reason} />
      <fieldset class="approval-permissions" disabled={props.isReadOnly}>
        <legend>Grant the selected permissions</legend>
        <Show when={view().rows.length > 1}>
          <label class="check check-all">
            <input
              type="checkbox"
              checked={isWhole()}
              onChange={(event) => toggleAll(event.currentTarget.checked)}
            />
            <span>Everything</span>
          </label>
        </Show>
        <For each={view().rows}>
          {(row) => (
            <label class="check">
              <input
                type="checkbox"
                checked={ticked().has(row.key)}
                disabled={!isSeparate(row) && separate().length > 0}
                onChange={(event) => toggle(row, event.currentTarget.checked)}
              />
              <span>
                <span class="approval-access">{ACCESS[row.access]}</span>{" "}
                <Show when={row.access !== "network"}>
                  <code>
                    <VisibleText text={row.label} />
                  </code>
                </Show>
                <Show when={!isSeparate(row)}>
                  <span class="muted"> (only together with everything else)</span>
                </Show>
              </span>
            </label>
          )}
        </For>
        <For each={view().denied}>
          {(path) => (
            <p class="approval-note">
              stays forbidden:{" "}
              <code>
                <VisibleText text={path} />
              </code>
            </p>
          )}
        </For>
      </fieldset>
      {/* Its space stays, because buttons that have moved ignore presses for a moment. */}
      <Show when={!props.isReadOnly}>
        <p class="approval-note" classList={{ "approval-blank": ticked().size > 0 }}>
          Nothing is selected, so nothing can be granted.
        </p>
      </Show>
    </>
  );
}
