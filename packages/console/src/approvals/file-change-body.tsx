import type { InboxRequest, Session } from "@codexkit/daemon/client";
import { lazy, Show, Suspense } from "solid-js";
import { describeSandbox } from "./describe-request.ts";
import { RequestReason } from "./request-reason.tsx";

type FileChangeRequest = Extract<InboxRequest, { kind: "fileChange" }>;

const ChangesView = lazy(async () => import("../diff/changes-view.tsx"));

export function FileChangeBody(props: {
  readonly request: FileChangeRequest;
  readonly settings: Session["settings"] | undefined;
  /** Whether the diff is expanded. */
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const changes = () => props.request.changes ?? [];
  return (
    <>
      <RequestReason reason={props.request.reason} />
      <Show
        when={changes().length > 0}
        fallback={<p class="approval-note approval-alert">Codex did not report which lines would change.</p>}
      >
        <Suspense fallback={<p class="approval-note">Loading the diff…</p>}>
          <ChangesView changes={changes()} isOpen={props.isOpen} onToggle={props.onToggle} />
        </Suspense>
      </Show>
      <Show when={describeSandbox(props.request, props.settings)}>
        {(text) => <p class="approval-note">Sandbox: {text()}</p>}
      </Show>
    </>
  );
}
