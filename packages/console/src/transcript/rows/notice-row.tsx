import { Match, Show, Switch } from "solid-js";
import { type TranscriptNotice, useDaemon } from "../../feed/index.ts";
import { Icon } from "../../ui/index.ts";
import { describeNotice } from "./describe-notice.ts";
import { useTranscript } from "../transcript-context.ts";

/** A notice. Notices are never hidden. */
export function NoticeRow(props: { readonly notice: TranscriptNotice }) {
  const text = () => describeNotice(props.notice.event);
  const { view } = useTranscript();
  return (
    <div class="row-notice" data-tone={text().tone}>
      <Icon name={text().tone === "info" ? "info" : "alert"} />
      <div>
        <p>{text().title}</p>
        <Show when={text().detail}>{(detail) => <p class="muted">{detail()}</p>}</Show>
        <Switch>
          <Match when={props.notice.event.type === "gap"}>
            <button type="button" class="link-button" onClick={() => void view.loadOlder()}>
              Load from the history
            </button>
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
