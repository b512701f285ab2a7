import type { DaemonClient } from "@codexkit/daemon/client";
import { createEffect, createMemo, createSignal, on, onCleanup } from "solid-js";
import { type CompletionTarget, findCompletion, type TextState } from "./completion.ts";
import { matchCommands } from "./slash-commands.ts";

export interface Suggestion {
  /** The text to insert. */
  readonly value: string;
  readonly label: string;
  readonly detail: string;
}

const MAX_FILES = 12;
/** Delay before a search, so that a quickly typed name causes one request. */
const DELAY_MS = 60;

/** Suggestions for the file or the command before the caret. */
export function createSuggestions(state: () => TextState, client: DaemonClient, sessionId: string) {
  const [files, setFiles] = createSignal<readonly Suggestion[]>([]);
  const [selected, setSelected] = createSignal(0);
  const [dismissed, setDismissed] = createSignal<string>();

  const target = createMemo<CompletionTarget | undefined>(() => findCompletion(state()), undefined, {
    equals: (a, b) => a?.type === b?.type && a?.start === b?.start && a?.query === b?.query,
  });
  const targetKey = (): string | undefined => {
    const found = target();
    return found && `${found.type}:${found.start}`;
  };
  const suggestions = createMemo<readonly Suggestion[]>(() => {
    const found = target();
    if (!found || targetKey() === dismissed()) return [];
    if (found.type === "file") return files();
    return matchCommands(found.query).map(({ name, argument, summary }) => ({
      value: name,
      label: `/${name}${argument === "" ? "" : ` ${argument}`}`,
      detail: summary,
    }));
  });

  createEffect(
    on(target, (found) => {
      setSelected(0);
      if (!found) setDismissed(undefined);
      if (found?.type !== "file" || found.query === "") {
        setFiles([]);
        return;
      }
      const controller = new AbortController();
      const { signal } = controller;
      const timer = setTimeout(() => void search(found.query, signal), DELAY_MS);
      onCleanup(() => {
        clearTimeout(timer);
        controller.abort();
      });
    }),
  );

  const search = async (query: string, signal: AbortSignal): Promise<void> => {
    try {
      const matches = await client.files(sessionId).search(query, { signal });
      setFiles(
        matches
          .slice(0, MAX_FILES)
          .map(({ path, type }) => ({ value: path, label: path, detail: type === "folder" ? "folder" : "" })),
      );
    } catch {
      // There is a newer search, or the files can't be searched. The name can still be typed.
      if (!signal.aborted) setFiles([]);
    }
  };

  return {
    target,
    suggestions,
    selected,
    select: setSelected,
    /** Moves the selection, and wraps around at the ends. */
    move: (step: 1 | -1): void => {
      const count = suggestions().length;
      if (count > 0) setSelected((index) => (index + step + count) % count);
    },
    /** Hides the list until another name is started. */
    dismiss: (): void => void setDismissed(targetKey()),
  };
}

export type Suggestions = ReturnType<typeof createSuggestions>;
