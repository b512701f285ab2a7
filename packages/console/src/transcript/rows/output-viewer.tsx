import { createResource, createSignal, Show } from "solid-js";
import { type TranscriptItem, useDaemon } from "../../feed/index.ts";
import { formatBytes, loadedValue } from "../../ui/index.ts";
import { useTranscript } from "../transcript-context.ts";
import { plainOutput } from "./plain-output.ts";

const STEP = 65_536;

/** The complete output of a command. The missing part is read from the daemon in steps. */
export function OutputViewer(props: { readonly item: TranscriptItem }) {
  const { client } = useDaemon();
  const { view } = useTranscript();
  const isCut = (): boolean => props.item.truncated["/aggregatedOutput"] !== undefined;
  const [end, setEnd] = createSignal(STEP);
  const [body] = createResource(
    () => (isCut() ? end() : undefined),
    async (limit) =>
      client.request("GET /sessions/{sessionId}/items/{itemId}/body", {
        params: { sessionId: view.id, itemId: props.item.id },
        query: { path: "/aggregatedOutput", limit },
      }),
  );
  return (
    <>
      <pre class="output output-whole" tabindex="0" aria-label="Whole output">
        {plainOutput(isCut() ? (loadedValue(body)?.text ?? "…") : props.item.text)}
      </pre>
      <Show when={body.error !== undefined}>
        <p class="tone-danger">The output could not be loaded.</p>
      </Show>
      <Show when={typeof loadedValue(body)?.next === "number"}>
        <button type="button" class="link-button" onClick={() => setEnd((value) => value * 4)}>
          Load more: {formatBytes(end())} of {formatBytes(loadedValue(body)?.length ?? 0)}
        </button>
      </Show>
    </>
  );
}
