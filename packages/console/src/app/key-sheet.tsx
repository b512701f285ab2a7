import { For } from "solid-js";
import {
  formatKeys,
  KEY_CATALOGUE,
  KEY_SCOPES,
  type KeyDefinition,
  keyRegistry,
  type KeyScope,
} from "../keys/index.ts";
import { Dialog } from "../ui/index.ts";

/** Keys that the message field handles itself. */
const COMPOSER: readonly (readonly [keys: readonly string[], label: string])[] = [
  [["Enter"], "Send"],
  [["Shift+Enter"], "New line"],
  [["$mod+Enter"], "Queue"],
  [["Alt+Enter"], "Steer"],
  [["Escape Escape"], "Interrupt"],
  [["ArrowUp"], "Earlier message"],
  [["@"], "File"],
  [["/"], "Command"],
  [["!"], "Shell command"],
];

/** Lists all shortcuts with their current keys. */
export default function KeySheet(props: { readonly close: () => void }) {
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const groups = [
    ...(Object.keys(KEY_CATALOGUE) as KeyScope[]).map((scope) => ({
      title: KEY_SCOPES[scope],
      // The arrow keys have the same actions as the letters.
      rows: groupByLabel(scope),
    })),
    { title: "Composer", rows: COMPOSER },
    { title: "Terminal", rows: [[["Ctrl+Shift+Escape"], "Leave the terminal"]] as typeof COMPOSER },
  ];
  return (
    <Dialog label="Keyboard shortcuts" class="key-sheet" close={props.close}>
      <header>
        <h1>Keyboard shortcuts</h1>
        <p class="muted">
          Single keys don't act in text fields.{" "}
          <a href="/console/settings#keys" onClick={() => props.close()}>
            Change them or switch them off
          </a>
          .
        </p>
      </header>
      <div class="key-groups">
        <For each={groups}>
          {({ title, rows }) => (
            <section>
              <h2>{title}</h2>
              <dl>
                <For each={rows}>
                  {([alternatives, label]) => (
                    <div>
                      <dt>
                        <For each={alternatives.flatMap((keys) => formatKeys(keys, isMac))}>
                          {(key) => <kbd class="key">{key}</kbd>}
                        </For>
                      </dt>
                      <dd>{label}</dd>
                    </div>
                  )}
                </For>
              </dl>
            </section>
          )}
        </For>
      </div>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </Dialog>
  );
}

function groupByLabel(scope: KeyScope): typeof COMPOSER {
  const byLabel = new Map<string, string[]>();
  for (const [id, definition] of Object.entries<KeyDefinition>(KEY_CATALOGUE[scope])) {
    const keys = keyRegistry.keysOf({ id, keys: definition.keys });
    if (keys !== "") byLabel.set(definition.label, [...(byLabel.get(definition.label) ?? []), keys]);
  }
  return Array.from(byLabel, ([label, keys]) => [keys, label] as const);
}
