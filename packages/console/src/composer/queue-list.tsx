import { For, Show, type JSX } from "solid-js";
import type { ComposerState } from "./create-composer.ts";
import type { QueuedMessage } from "./message-queue.ts";

/** Lists messages that have not been sent to Codex yet. */
export function QueueList(props: { readonly composer: ComposerState }): JSX.Element {
  return (
    <Show when={props.composer.queue().length > 0}>
      <section class="composer-queue" aria-label="Messages that wait">
        <ol>
          <For each={props.composer.queue()}>
            {(message) => (
              <li data-state={message.state}>
                <span class="composer-queue-text">{message.text ?? "A message of another client"}</span>
                <span class="composer-queue-state">{describeState(message)}</span>
                <span class="composer-queue-actions">
                  <Show when={message.state === "refused"}>
                    <button
                      type="button"
                      class="button button-quiet"
                      onClick={() => void props.composer.retry(message.key)}
                    >
                      Retry
                    </button>
                  </Show>
                  <Show when={message.text !== undefined && message.state !== "sending"}>
                    <button
                      type="button"
                      class="button button-quiet"
                      onClick={() => void props.composer.edit(message)}
                    >
                      Edit
                    </button>
                  </Show>
                  <Show when={message.state !== "sending"}>
                    <button
                      type="button"
                      class="button button-quiet"
                      onClick={() => void props.composer.dequeue(message)}
                    >
                      Remove
                    </button>
                  </Show>
                </span>
              </li>
            )}
          </For>
        </ol>
      </section>
    </Show>
  );
}

function describeState({ state, problem, imageCount, mode }: QueuedMessage): string {
  const images = imageCount === 0 ? "" : `${imageCount} ${imageCount === 1 ? "image" : "images"} · `;
  switch (state) {
    case "unsent":
      return `${images}not sent yet`;
    case "sending":
      return `${images}sending`;
    case "accepted":
      return `${images}${mode === "steer" ? "steers the turn" : "queued"}`;
    case "refused":
      return `${images}refused: ${problem ?? "unknown reason"}`;
  }
}
