import { For, Show, type JSX } from "solid-js";
import type { ComposerState } from "./create-composer.ts";

/** Images of the message. */
export function Attachments(props: {
  readonly composer: ComposerState;
  readonly sessionId: string;
}): JSX.Element {
  const images = (): ReturnType<ComposerState["draft"]>["images"] => props.composer.draft().images;
  return (
    <Show when={images().length > 0 || props.composer.uploads() > 0}>
      <ul class="composer-attachments" aria-label="Images of this message">
        <For each={images()}>
          {({ imageId, name }) => (
            <li>
              <img
                src={`/sessions/${encodeURIComponent(props.sessionId)}/images/${encodeURIComponent(imageId)}`}
                alt={name}
                width="48"
                height="48"
              />
              <button
                type="button"
                class="composer-detach"
                aria-label={`Remove ${name}`}
                onClick={() => props.composer.detach(imageId)}
              >
                ×
              </button>
            </li>
          )}
        </For>
        <Show when={props.composer.uploads() > 0}>
          <li class="composer-uploading">Uploading…</li>
        </Show>
      </ul>
    </Show>
  );
}
