import fuzzysort from "fuzzysort";
import { createMemo, createSignal, For, onMount, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { formatKeys, keyRegistry } from "../keys/index.ts";
import { navigate } from "../routing/index.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { Dialog, Icon, type IconName } from "../ui/index.ts";

interface PaletteEntry {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: IconName;
  readonly keys?: string;
  readonly run: () => void;
}

const LIMIT = 50;
const PAGES: readonly [label: string, path: string, icon: IconName][] = [
  ["Inbox", "/inbox", "inbox"],
  ["Sessions", "/sessions", "list"],
  ["New session", "/new", "plus"],
  ["Usage", "/usage", "usage"],
  ["Nodes", "/nodes", "link"],
  ["Settings", "/settings", "gear"],
  ["Replay a session", "/replay", "events"],
  ["Pair a device", "/pair", "link"],
];

/** The command palette: finds pages, sessions and actions by typing. */
export default function Palette(props: { readonly close: () => void }) {
  const { sessions, isFleet } = useDaemon();
  const [query, setQuery] = createSignal("");
  const [selected, setSelected] = createSignal(0);
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  let input!: HTMLInputElement;
  let list!: HTMLUListElement;
  onMount(() => input.focus());

  const entries = createMemo((): PaletteEntry[] => [
    ...sessions().map((session) => ({
      id: `session-${session.id}`,
      label: sessionTitle(session),
      detail: session.cwd,
      icon: "sessions" as const,
      run: () => navigate(`/s/${encodeURIComponent(session.id)}`),
    })),
    ...PAGES.filter(([, path]) => path !== "/nodes" || isFleet()).map(([label, path, icon]) => ({
      id: `page-${path.slice(1)}`,
      label,
      detail: "",
      icon,
      run: () => navigate(path),
    })),
    ...keyRegistry
      .groups()
      .filter(({ element, scope }) => element === undefined && scope !== "list")
      .flatMap(({ bindings }) => bindings)
      .filter(({ id }) => !/^app\.(?:go[A-Z]|new$|palette$)/.test(id))
      .map((binding) => ({
        id: `key-${binding.id.replaceAll(".", "-")}`,
        label: binding.label,
        detail: "",
        icon: "chevron" as const,
        keys: keyRegistry.keysOf(binding),
        run: () => void binding.run(new KeyboardEvent("keydown")),
      })),
  ]);
  const found = createMemo(() =>
    query().trim() === ""
      ? entries().slice(0, LIMIT)
      : fuzzysort.go(query(), entries(), { keys: ["label", "detail"], limit: LIMIT }).map(({ obj }) => obj),
  );
  const choose = (entry: PaletteEntry | undefined): void => {
    if (!entry) return;
    props.close();
    // After the dialog has returned the focus.
    queueMicrotask(entry.run);
  };
  const move = (step: number): void => {
    const count = found().length;
    if (count === 0) return;
    setSelected((index) => (index + step + count) % count);
    list.children[selected()]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") choose(found()[selected()]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Search or command" class="palette" close={props.close}>
      <input
        ref={input}
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found()[selected()]?.id}
        aria-label="Search sessions and commands"
        placeholder="Search sessions and commands"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul ref={list} id="palette-list" role="listbox" aria-label="Results" class="palette-list">
        <For each={found()}>
          {(entry, index) => (
            <li
              id={entry.id}
              role="option"
              aria-selected={index() === selected()}
              onPointerMove={() => setSelected(index())}
              onClick={() => choose(entry)}
            >
              <Icon name={entry.icon} />
              <span class="one-line">{entry.label}</span>
              <span class="palette-detail one-line">{entry.detail}</span>
              <Show when={entry.keys}>
                {(keys) => (
                  <span>
                    <For each={formatKeys(keys(), isMac)}>{(key) => <kbd class="key">{key}</kbd>}</For>
                  </span>
                )}
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={found().length === 0}>
        <p class="palette-empty">Nothing matches.</p>
      </Show>
    </Dialog>
  );
}
