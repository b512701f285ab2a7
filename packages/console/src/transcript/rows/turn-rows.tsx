import { createMemo, createSignal, Show } from "solid-js";
import { useDaemon } from "../../feed/index.ts";
import { toHref } from "../../routing/index.ts";
import { explainError } from "../../settings/explain-error.ts";
import { announce, Elapsed, formatCount, formatDuration } from "../../ui/index.ts";
import { useTranscript } from "../transcript-context.ts";

export function TurnRow(props: { readonly turnId: string }) {
  const { view } = useTranscript();
  const index = createMemo(() => view.turns().findIndex(({ id }) => id === props.turnId));
  const turn = (): ReturnType<typeof view.turns>[number] | undefined => view.turns()[index()];
  return (
    <div class="row-turn">
      <h2>
        Turn<Show when={index() >= 0}> {index() + 1}</Show>
      </h2>
      <span class="rule" aria-hidden="true" />
      <Show when={turn()}>
        {(shown) => (
          <span class="muted">
            <Show
              when={shown().endedAt}
              fallback={
                <>
                  running <Elapsed since={shown().startedAt} />
                </>
              }
            >
              {(endedAt) => <>{formatDuration(endedAt() - shown().startedAt)}</>}
            </Show>
          </span>
        )}
      </Show>
    </div>
  );
}

export function FooterRow(props: { readonly turnId: string }) {
  const { view, openPanel } = useTranscript();
  const { can, client } = useDaemon();
  const turn = createMemo(() => view.turns().find(({ id }) => id === props.turnId));
  const [forking, setForking] = createSignal<string>();
  const [forkId, setForkId] = createSignal<string>();
  const report = (text: string): void => {
    setForking(text);
    announce(text);
  };
  const fork = async (): Promise<void> => {
    report("Fork started");
    try {
      const { result, problem } = await client.request("POST /sessions/{sessionId}/fork", {
        params: { sessionId: view.id },
        body: { lastTurnId: props.turnId },
        query: { wait: 20_000 },
      });
      const id = result?.["sessionId"];
      if (problem) report(`Not forked: ${problem.detail}`);
      else if (typeof id === "string") setForkId(id);
      else report("The fork will be in the list of sessions.");
    } catch (error) {
      report(`Not forked: ${explainError(error)}`);
    }
  };
  return (
    <Show when={turn()}>
      {(shown) => (
        <div class="row-footer" data-status={shown().status}>
          <Show when={shown().status !== "completed"}>
            <span class={shown().status === "failed" ? "tone-danger" : "tone-warn"}>{shown().status}</span>
          </Show>
          <Show when={shown().usage}>
            {(usage) => (
              <span>
                {formatCount(usage().inputTokens)} in · {formatCount(usage().outputTokens)} out
              </span>
            )}
          </Show>
          <Show when={shown().diffStat}>
            {(stat) => (
              <button type="button" class="link-button" onClick={() => openPanel("diff")}>
                {stat().files} {stat().files === 1 ? "file" : "files"} +{stat().added} −{stat().removed}
              </button>
            )}
          </Show>
          <Show when={can("write")}>
            <button type="button" class="link-button" data-fork onClick={() => void fork()}>
              Fork here
            </button>
            <Show when={forkId()} fallback={<span>{forking()}</span>}>
              {(id) => <a href={toHref(`/s/${encodeURIComponent(id())}`)}>Open the fork</a>}
            </Show>
          </Show>
        </div>
      )}
    </Show>
  );
}
