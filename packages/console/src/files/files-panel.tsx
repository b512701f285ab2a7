import { createResource, createSignal, type JSX, Show } from "solid-js";
import { type SessionView, useDaemon } from "../feed/index.ts";
import { queryParam, setQueryParams } from "../routing/index.ts";
import { explainError } from "../settings/explain-error.ts";
import { formatBytes, ProblemText } from "../ui/index.ts";
import { createFileTree } from "./create-file-tree.ts";
import { FileSearch } from "./file-search.tsx";
import { TextViewer } from "./text-viewer.tsx";
import { TreeView } from "./tree-view.tsx";
import "./files.css";

/** The files of the session, read-only. `?file=` selects the displayed file. */
export default function FilesPanel(props: { readonly view: SessionView }): JSX.Element {
  const { client } = useDaemon();
  const files = client.files(props.view.id);
  const tree = createFileTree(files);
  const [search, setSearch] = createSignal("");
  const open = (path: string): void => setQueryParams({ file: path });
  return (
    <div class="files-panel">
      <Show
        when={queryParam("file")}
        keyed
        fallback={
          <>
            <div class="files-tools">
              <input
                class="input"
                type="search"
                aria-label="Find a file"
                placeholder="Find a file by parts of its name"
                value={search()}
                onInput={(event) => setSearch(event.currentTarget.value)}
              />
              <button type="button" class="button" onClick={() => tree.refresh()}>
                Refresh
              </button>
            </div>
            <ProblemText text={tree.problem()} />
            <Show
              when={search().trim() !== ""}
              fallback={<TreeView tree={tree} selected={queryParam("file")} onOpen={open} />}
            >
              <FileSearch files={files} query={search().trim()} onOpen={open} />
            </Show>
          </>
        }
      >
        {(path) => <OpenFile sessionId={props.view.id} path={path} />}
      </Show>
    </div>
  );
}

function OpenFile(props: { readonly sessionId: string; readonly path: string }): JSX.Element {
  const { client } = useDaemon();
  const [info] = createResource(async () =>
    client
      .files(props.sessionId)
      .stat(props.path)
      .then(
        (found) => ({ ...found, problem: undefined }),
        (error: unknown) => ({ size: 0, type: "", problem: explainError(error) }),
      ),
  );
  const source = (): string =>
    `/sessions/${encodeURIComponent(props.sessionId)}/files/content?path=${encodeURIComponent(props.path)}`;
  return (
    <div class="open-file">
      <div class="open-file-header">
        <button
          type="button"
          class="button"
          ref={(element) => queueMicrotask(() => element.focus())}
          onClick={() => setQueryParams({ file: undefined })}
        >
          Back
        </button>
        <span class="open-file-path">{props.path}</span>
        <span class="muted">{info() ? formatBytes(info()?.size ?? 0) : ""}</span>
      </div>
      <Show when={info()}>
        {(found) => (
          <Show when={found().problem === undefined} fallback={<ProblemText text={found().problem} />}>
            <Show
              when={found().type.startsWith("image/")}
              fallback={<TextViewer sessionId={props.sessionId} path={props.path} size={found().size} />}
            >
              <div class="open-image">
                <img src={source()} alt={props.path} />
              </div>
            </Show>
          </Show>
        )}
      </Show>
    </div>
  );
}
