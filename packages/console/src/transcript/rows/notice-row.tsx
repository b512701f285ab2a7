import type { SessionEvent } from "@codexkit/daemon/client";
import { createSignal, Match, Show, Switch } from "solid-js";
import { type TranscriptNotice, useDaemon } from "../../feed/index.ts";
import { announce, Icon } from "../../ui/index.ts";
import { describeNotice } from "./describe-notice.ts";
import { useTranscript } from "../transcript-context.ts";

type Gap = Extract<SessionEvent, { readonly type: "gap" }>;

/** A notice. Notices are never hidden. */
export function NoticeRow(props: { readonly notice: TranscriptNotice }) {
  const text = () => describeNotice(props.notice.event);
  return (
    <div class="row-notice" data-tone={text().tone}>
      <Icon name={text().tone === "info" ? "info" : "alert"} />
      <div>
        <p>{text().title}</p>
        <Show when={text().detail}>{(detail) => <p class="muted">{detail()}</p>}</Show>
        <Switch>
          <Match when={props.notice.event.type === "gap"}>
            <LoadGap gap={props.notice.event as Gap} />
          </Match>
          <Match when={text().stderr}>{(lines) => <pre class="output">{lines()}</pre>}</Match>
        </Switch>
        <Show when={text().isCrash}>
          <DebugLink />
        </Show>
      </div>
    </div>
  );
}

/** Loads the items of the missing events. */
function LoadGap(props: { readonly gap: Gap }) {
  const { view } = useTranscript();
  const [status, setStatus] = createSignal<"idle" | "loading" | "loaded" | "failed">("idle");
  const load = async (): Promise<void> => {
    setStatus("loading");
    const count = view.items().length;
    try {
      await view.loadRange(props.gap.from, props.gap.to);
      setStatus("loaded");
      announce(`${view.items().length - count} items loaded`);
    } catch {
      setStatus("failed");
    }
  };
  return (
    <Show
      when={status() !== "loaded"}
      fallback={<p class="muted">The items of this time that the history has are loaded.</p>}
    >
      <button
        type="button"
        class="link-button"
        aria-disabled={status() === "loading"}
        onClick={() => void load()}
      >
        {status() === "loading" ? "Loading…" : "Load from the history"}
      </button>
      <Show when={status() === "failed"}>
        <p class="tone-danger">The items could not be loaded.</p>
      </Show>
    </Show>
  );
}

function DebugLink() {
  const { view } = useTranscript();
  const { can } = useDaemon();
  return (
    <Show when={can("admin")}>
      <a href={`/sessions/${encodeURIComponent(view.id)}/debug`} target="_blank" rel="noopener">
        Debug bundle
      </a>
    </Show>
  );
}
