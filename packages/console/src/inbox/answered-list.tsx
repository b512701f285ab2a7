import type { Approval } from "@codexkit/daemon/client";
import { createSignal, For, onCleanup, onMount, Show } from "solid-js";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { isAnswerable } from "../approvals/describe-outcome.ts";
import { useDaemon } from "../feed/index.ts";

const PAGE_SIZE = 50;

/** The audit list: requests, who answered them, and when. Newest first. */
export function AnsweredList() {
  const { client, approval } = useDaemon();
  const [entries, setEntries] = createSignal<readonly Approval[]>([]);
  const [next, setNext] = createSignal<string | null>(null);
  const [status, setStatus] = createSignal<"loading" | "ready" | "failed">("loading");
  const controller = new AbortController();
  onCleanup(() => controller.abort());

  async function load(cursor: string | null): Promise<void> {
    setStatus("loading");
    try {
      const page = await client.request("GET /inbox", {
        query: { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) },
        signal: controller.signal,
      });
      // Open requests are in the other tab.
      const answered = page.data.filter((entry) => !isAnswerable(entry));
      setEntries((before) => (cursor === null ? answered : [...before, ...answered]));
      setNext(page.next);
      setStatus("ready");
    } catch {
      if (!controller.signal.aborted) setStatus("failed");
    }
  }

  onMount(() => void load(null));

  return (
    <div class="inbox-list">
      <For
        each={entries()}
        fallback={
          <Show when={status() === "ready"}>
            <p class="muted">Nothing has been answered yet.</p>
          </Show>
        }
      >
        {(entry) => <ApprovalCard approval={approval(entry.id) ?? entry} place="inbox" />}
      </For>
      <Show when={status() === "loading"}>
        <p role="status">Loading…</p>
      </Show>
      <Show when={status() === "failed"}>
        <p role="alert">
          The list can't be loaded.{" "}
          <button type="button" class="button" onClick={() => void load(next())}>
            Try again
          </button>
        </p>
      </Show>
      <Show when={status() === "ready" && next()}>
        {(cursor) => (
          <button type="button" class="button" onClick={() => void load(cursor())}>
            Load older ones
          </button>
        )}
      </Show>
    </div>
  );
}
