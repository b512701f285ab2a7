import { For } from "solid-js";
import { formatKeys, keyRegistry, type KeyScope } from "../keys/index.ts";
import { Dialog } from "../ui/index.ts";

const TITLES: Readonly<Record<KeyScope, string>> = {
  everywhere: "Everywhere",
  list: "Lists",
  transcript: "Transcript",
  approval: "Approval",
  diff: "Diff",
  composer: "Composer",
  terminal: "Terminal",
};

/** All keys that act now. */
export default function KeySheet(props: { readonly close: () => void }) {
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const scopes = (Object.keys(TITLES) as KeyScope[]).flatMap((scope) => {
    const bindings = new Map(
      keyRegistry
        .groups()
        .filter((group) => group.scope === scope)
        .flatMap((group) => group.bindings.map((binding) => [binding.id, binding] as const)),
    );
    return bindings.size > 0 ? [{ scope, bindings: [...bindings.values()] }] : [];
  });
  return (
    <Dialog label="Keyboard shortcuts" class="key-sheet" close={props.close}>
      <header>
        <h1>Keyboard shortcuts</h1>
        <p class="muted">
          Single keys don't act in text fields. <a href="/console/settings">Change them or switch them off</a>
          .
        </p>
      </header>
      <div class="key-groups">
        <For each={scopes}>
          {({ scope, bindings }) => (
            <section>
              <h2>{TITLES[scope]}</h2>
              <dl>
                <For each={bindings}>
                  {(binding) => (
                    <div>
                      <dt>
                        <For each={formatKeys(keyRegistry.keysOf(binding), isMac)}>
                          {(key) => <kbd class="key">{key}</kbd>}
                        </For>
                      </dt>
                      <dd>{binding.label}</dd>
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
