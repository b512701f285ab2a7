import {
  createEffect,
  createMemo,
  createResource,
  createSignal,
  createUniqueId,
  For,
  onCleanup,
  Show,
} from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { createParsedDiff } from "./create-parsed-diff.ts";
import { commentsOf } from "./diff-comments.ts";
import { CommentBar, LineComments } from "./diff-comments-view.tsx";
import { type DiffNavigation, DiffView, FileCounts, FilePath } from "./diff-view.tsx";
import { changedTurns, type LoadedTurn, loadTurnDiffs, MAX_TURNS } from "./load-diffs.ts";
import { type DiffFile, type ParsedDiff, parseTurns } from "./parse-diff.ts";
import "./diff.css";

/** Options and viewed files. They apply to all sessions until the page is closed. */
const [isWrapped, setIsWrapped] = createSignal(false);
const [isSplit, setIsSplit] = createSignal(false);
const [viewed, setViewed] = createSignal<ReadonlySet<string>>(new Set());

/** What the panel shows: the newest diff, one turn, or all turns. */
type Scope = "newest" | "all" | { readonly turnId: string };

export default function DiffPanel(props: { readonly view: SessionView }) {
  const { client } = useDaemon();
  const scopeId = createUniqueId();
  const [scope, setScope] = createSignal<Scope>("newest");
  const turns = createMemo(() => changedTurns(props.view.turns()));
  const newest = createMemo(() => props.view.diff()?.diff ?? "");

  // The newest diff changes while a turn runs; others are read once. The diff of the running turn reads all of them again.
  const source = createMemo(() => {
    const shown = scope();
    if (shown === "newest") return undefined;
    const chosen =
      shown === "all" ? turns().slice(-MAX_TURNS) : turns().filter(({ id }) => id === shown.turnId);
    return { chosen, live: newest() };
  });
  const [loaded] = createResource(source, async ({ chosen }) => {
    const controller = new AbortController();
    onCleanup(() => controller.abort());
    return loadTurnDiffs(client, props.view.id, chosen, controller.signal);
  });
  const texts = createMemo((): readonly LoadedTurn[] => {
    if (scope() === "newest") return [{ title: "", diff: newest() }];
    const turnsRead = loaded.error === undefined ? (loaded.latest ?? []) : [];
    // Headings name the turn only if there are several.
    return scope() === "all" ? turnsRead : turnsRead.map(({ diff }) => ({ title: "", diff }));
  });
  const parsed = createParsedDiff(texts, (all) => parseTurns(all));

  return (
    <div class="diff-panel">
      <div class="diff-toolbar">
        <label class="visually-hidden" for={scopeId}>
          Changes of
        </label>
        <select
          class="input"
          id={scopeId}
          onChange={({ currentTarget: { value } }) =>
            setScope(value === "newest" || value === "all" ? value : { turnId: value })
          }
        >
          <option value="newest">Newest turn</option>
          <option value="all">Whole session, turn by turn</option>
          <For each={turns().toReversed()}>
            {({ id, title, diffStat }) => (
              <option value={id}>
                {title || id} (+{diffStat?.added ?? 0} −{diffStat?.removed ?? 0})
              </option>
            )}
          </For>
        </select>
        <ToggleButton label="Wrap" isOn={isWrapped()} onToggle={() => setIsWrapped(!isWrapped())} />
        <ToggleButton label="Split" isOn={isSplit()} onToggle={() => setIsSplit(!isSplit())} />
      </div>
      <Show when={scope() === "all" && turns().length > MAX_TURNS}>
        <p class="muted">Only the newest {MAX_TURNS} turns are shown.</p>
      </Show>
      <Show when={loaded.error !== undefined}>
        <p role="alert">The diff can't be loaded: {(loaded.error as Error).message}</p>
      </Show>
      <Show
        when={(parsed()?.files.length ?? 0) > 0 && parsed()}
        fallback={
          <p class="muted diff-empty">
            {loaded.loading || !parsed()
              ? "Loading…"
              : "No files were changed here. Changes of shell commands are not listed."}
          </p>
        }
      >
        {(diff) => <LoadedDiff view={props.view} diff={diff()} />}
      </Show>
    </div>
  );
}

function LoadedDiff(props: { readonly view: SessionView; readonly diff: ParsedDiff }) {
  const { client } = useDaemon();
  const comments = commentsOf(props.view.id);
  const [navigation, setNavigation] = createSignal<DiffNavigation>();
  const [closed, setClosed] = createSignal<ReadonlySet<number>>(new Set());
  let root!: HTMLDivElement;

  const viewedFiles = createMemo(
    () => new Set(props.diff.files.flatMap((file, index) => (viewed().has(viewedKey(file)) ? [index] : []))),
  );
  const collapsed = createMemo(() => viewedFiles().union(closed()));
  const totals = createMemo(() => {
    const { files } = props.diff;
    return {
      added: files.reduce((sum, { added }) => sum + added, 0),
      removed: files.reduce((sum, { removed }) => sum + removed, 0),
    };
  });

  // A collapsed file may have another index in the next diff.
  createEffect<ParsedDiff>((before) => {
    if (before.files.length !== props.diff.files.length) setClosed(new Set<number>());
    return props.diff;
  }, props.diff);

  function toggleFile(index: number): void {
    if (viewedFiles().has(index)) toggleViewed(index);
    else setClosed((before) => before.symmetricDifference(new Set([index])));
  }

  function toggleViewed(index: number): void {
    const file = props.diff.files[index];
    if (!file) return;
    setViewed((before) => before.symmetricDifference(new Set([viewedKey(file)])));
    setClosed((before) => before.difference(new Set([index])));
  }

  function comment(): boolean {
    const line = navigation()?.currentLine();
    if (!line) return false;
    comments.edit({ path: line.file.path, side: line.side, line: line.line, code: line.code });
    return true;
  }

  useKeys(
    "diff",
    {
      "diff.nextHunk": () => navigation()?.moveHunk(1),
      "diff.previousHunk": () => navigation()?.moveHunk(-1),
      "diff.nextFile": () => navigation()?.moveFile(1),
      "diff.previousFile": () => navigation()?.moveFile(-1),
      "diff.nextLine": () => navigation()?.moveLine(1),
      "diff.previousLine": () => navigation()?.moveLine(-1),
      "diff.comment": comment,
      "diff.viewed": () => toggleViewed(navigation()?.currentFile() ?? 0),
      "diff.wrap": () => setIsWrapped(!isWrapped()),
      "diff.split": () => setIsSplit(!isSplit()),
    },
    () => root,
  );

  return (
    <div
      class="diff-loaded"
      ref={(element) => {
        root = element;
      }}
    >
      <details class="diff-files">
        <summary>
          {props.diff.files.length} {props.diff.files.length === 1 ? "file" : "files"}{" "}
          <FileCounts file={totals()} />
          <span class="muted"> {viewedFiles().size} viewed</span>
        </summary>
        <ul>
          <For each={props.diff.files}>
            {(file, index) => (
              <li>
                <button
                  type="button"
                  class="diff-file-link"
                  onClick={() => navigation()?.scrollToFile(index())}
                >
                  <FilePath file={file} /> <FileCounts file={file} />
                </button>
              </li>
            )}
          </For>
        </ul>
      </details>
      <DiffView
        diff={props.diff}
        label="Changes"
        isWrapped={isWrapped()}
        isSplit={isSplit()}
        collapsed={collapsed()}
        onToggleFile={toggleFile}
        onReady={setNavigation}
        fileActions={(index) => (
          <label class="diff-viewed">
            <input type="checkbox" checked={viewedFiles().has(index)} onChange={() => toggleViewed(index)} />{" "}
            Viewed
          </label>
        )}
        onComment={(line) =>
          comments.edit({ path: line.file.path, side: line.side, line: line.line, code: line.code })
        }
        belowLine={(line) => (
          <LineComments
            comments={comments}
            place={{ path: line.file.path, side: line.side, line: line.line, code: line.code }}
            onClose={() => navigation()?.focus()}
          />
        )}
      />
      <CommentBar comments={comments} view={props.view} client={client} />
    </div>
  );
}

/** Identifies a version of a file by its counts. A file that changes again is no longer marked as viewed. */
function viewedKey({ path, added, removed, turn, firstRow, endRow }: DiffFile): string {
  return JSON.stringify([path, added, removed, turn, endRow - firstRow]);
}

function ToggleButton(props: {
  readonly label: string;
  readonly isOn: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <button type="button" class="button" aria-pressed={props.isOn} onClick={() => props.onToggle()}>
      {props.label}
    </button>
  );
}
