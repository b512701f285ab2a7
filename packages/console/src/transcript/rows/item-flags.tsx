import { Show } from "solid-js";
import type { TranscriptItem } from "../../feed/index.ts";

/** How the item came into the journal, if it was not received as it happened. */
export function ItemFlags(props: { readonly item: TranscriptItem }) {
  return (
    <>
      <Show when={props.item.wasMerged}>
        <p class="row-flag" title="The daemon merges old deltas. The text is complete.">
          ⋯ deltas were merged
        </p>
      </Show>
      <Show when={props.item.wasRecovered}>
        <p class="row-flag">recovered from the thread's history</p>
      </Show>
    </>
  );
}
