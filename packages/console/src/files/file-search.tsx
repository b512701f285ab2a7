import type { FileMatch, SessionFiles } from "@codexkit/daemon/client";
import { createEffect, createSignal, For, type JSX, on, onCleanup, Show } from "solid-js";
import { explainError } from "../settings/explain-error.ts";

const DELAY_MS = 80;

/** Lists files whose names match, best match first. */
export function FileSearch(props: {
  readonly files: SessionFiles;
  readonly query: string;
  readonly onOpen: (path: string) => void;
}): JSX.Element {
  const [matches, setMatches] = createSignal<readonly FileMatch[]>([]);
  const [state, setState] = createSignal<string | undefined>("Searching…");
  createEffect(
    on(
      () => props.query,
      (query) => {
        const controller = new AbortController();
        const { signal } = controller;
        const search = async (): Promise<void> => {
          try {
            const found = await props.files.search(query, { signal });
            setMatches(found.filter(({ type }) => type === "file"));
            setState(undefined);
          } catch (error) {
            if (!signal.aborted) setState(explainError(error));
          }
        };
        const timer = setTimeout(() => void search(), DELAY_MS);
        onCleanup(() => {
          clearTimeout(timer);
          controller.abort();
        });
      },
    ),
  );
  return (
    <>
      <p class="files-note muted" role="status">
        {state() ?? `${matches().length} files`}
      </p>
      <ul class="file-matches">
        <For each={matches()}>
          {({ path, indices }) => (
            <li>
              <button type="button" onClick={() => props.onOpen(path)}>
                <For each={markMatches(path, indices ?? [])}>
                  {({ text, isMatch }) => (
                    <Show when={isMatch} fallback={text}>
                      <mark>{text}</mark>
                    </Show>
                  )}
                </For>
              </button>
            </li>
          )}
        </For>
      </ul>
    </>
  );
}

/** Splits a path at the characters that match. */
function markMatches(
  path: string,
  indices: readonly number[],
): readonly { readonly text: string; readonly isMatch: boolean }[] {
  const matching = new Set(indices);
  const parts: { text: string; isMatch: boolean }[] = [];
  // Positions count characters, not UTF-16 units.
  for (const [index, character] of Array.from(path).entries()) {
    const isMatch = matching.has(index);
    const last = parts.at(-1);
    if (last?.isMatch === isMatch) last.text += character;
    else parts.push({ text: character, isMatch });
  }
  return parts;
}
