import { createEffect, onCleanup } from "solid-js";
import { type SessionView, type TranscriptItem, useDaemon } from "../feed/index.ts";
import type { MessageBlocks } from "./message-blocks.ts";

/** Longer messages are truncated. */
const LONGEST = 262_144;
const loading = new WeakSet<MessageBlocks>();

/** The history has truncated versions of long messages. When a row of one is mounted, the complete text is loaded. */
export function loadWholeMessage(view: SessionView, item: TranscriptItem, blocks: MessageBlocks): void {
  const { client } = useDaemon();
  let isMounted = true;
  onCleanup(() => {
    isMounted = false;
  });
  createEffect(() => {
    if (item.truncated["/text"] === undefined || loading.has(blocks)) return;
    loading.add(blocks);
    client
      .request("GET /sessions/{sessionId}/items/{itemId}/body", {
        params: { sessionId: view.id, itemId: item.id },
        query: { path: "/text", limit: LONGEST },
      })
      .then(({ text }) => blocks.update(text))
      .catch(() => {
        loading.delete(blocks);
        // Retried when a row of the message is mounted again.
        return isMounted;
      });
  });
}
