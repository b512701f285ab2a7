import { createSignal, For, Show } from "solid-js";
import { createParsedDiff } from "./create-parsed-diff.ts";
import { DiffView, FileCounts, FilePath } from "./diff-view.tsx";
import { type FileChange, parseChanges } from "./parse-diff.ts";

/** The files that an approval is about, and their diff. */
export default function ChangesView(props: {
  readonly changes: readonly FileChange[];
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const diff = createParsedDiff(
    () => props.changes,
    (changes) => parseChanges(changes),
  );
  const [collapsed, setCollapsed] = createSignal<ReadonlySet<number>>(new Set());

  function toggleFile(file: number): void {
    setCollapsed((before) => before.symmetricDifference(new Set([file])));
  }

  return (
    <Show when={diff()} fallback={<p class="approval-note">Reading the diff…</p>}>
      {(parsed) => (
        <div class="changes">
          <ul class="changes-files" aria-label="Files">
            <For each={parsed().files}>
              {(file) => (
                <li>
                  <FilePath file={file} /> <FileCounts file={file} />
                </li>
              )}
            </For>
          </ul>
          <button
            type="button"
            class="button button-quiet"
            aria-expanded={props.isOpen}
            onClick={() => props.onToggle()}
          >
            {props.isOpen ? "Hide the diff" : "Show the diff"}
            <kbd class="key" aria-hidden="true">
              O
            </kbd>
          </button>
          <Show when={props.isOpen}>
            <DiffView
              diff={parsed()}
              label="Changes to approve"
              isWrapped
              collapsed={collapsed()}
              onToggleFile={toggleFile}
            />
          </Show>
        </div>
      )}
    </Show>
  );
}
