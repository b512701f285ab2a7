import { createSignal, For, type JSX, onCleanup, Show } from "solid-js";
import {
  findConflict,
  formatKeys,
  KEY_CATALOGUE,
  KEY_SCOPES,
  type KeyDefinition,
  type KeyScope,
  keysOfPress,
} from "../keys/index.ts";
import { hashTarget } from "../routing/index.ts";
import { announce, ProblemText } from "../ui/index.ts";
import { changePreferences, preferences } from "./preferences.ts";

/** Maximum time between the two keys of a sequence. */
const SEQUENCE_MS = 1_000;

/** A form that changes or disables shortcuts. */
export function KeySettings(): JSX.Element {
  return (
    <details class="key-settings" id="keys" open={hashTarget() === "keys"}>
      <summary>Change keys</summary>
      <For each={Object.keys(KEY_CATALOGUE) as KeyScope[]}>
        {(scope) => (
          <section aria-label={`Keys: ${KEY_SCOPES[scope]}`}>
            <h3>{KEY_SCOPES[scope]}</h3>
            <ul>
              <For each={Object.entries<KeyDefinition>(KEY_CATALOGUE[scope])}>
                {([id, definition]) => <KeyRow scope={scope} id={id} definition={definition} />}
              </For>
            </ul>
          </section>
        )}
      </For>
      <Show when={Object.keys(preferences().keys).length > 0}>
        <button type="button" class="button" onClick={() => changePreferences({ keys: {} })}>
          Reset all keys
        </button>
      </Show>
    </details>
  );
}

function KeyRow(props: {
  readonly scope: KeyScope;
  readonly id: string;
  readonly definition: KeyDefinition;
}): JSX.Element {
  /** Keys that were pressed so far. Undefined while nothing is recorded. */
  const [recorded, setRecorded] = createSignal<readonly string[]>();
  const [problem, setProblem] = createSignal<string>();
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const keys = (): string => preferences().keys[props.id] ?? props.definition.keys;
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));

  function store(next: string | undefined): void {
    const { [props.id]: _before, ...others } = preferences().keys;
    const isDefault = next === undefined || next === props.definition.keys;
    changePreferences({ keys: isDefault ? others : { ...others, [props.id]: next } });
    setProblem(undefined);
  }

  function finish(): void {
    clearTimeout(timer);
    const next = (recorded() ?? []).join(" ");
    setRecorded(undefined);
    if (next === "") return;
    const conflict = findConflict(props.scope, props.id, next, preferences().keys);
    if (conflict) {
      const taken = formatKeys(conflict.keys, isMac).join(" ");
      setProblem(`${taken} is the key of “${conflict.label}”. Change that one first, or choose another key.`);
      return;
    }
    store(next);
    announce(`${props.definition.label}: ${formatKeys(next, isMac).join(" ")}`);
  }

  function record(event: KeyboardEvent): void {
    const soFar = recorded();
    // Tab leaves the button as usual.
    if (!soFar || event.key === "Tab" || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    event.preventDefault();
    // The current shortcut of the pressed key must not run.
    event.stopPropagation();
    clearTimeout(timer);
    if (event.key === "Escape") {
      setRecorded(undefined);
      return;
    }
    if (event.key === "Enter" && soFar.length > 0) return finish();
    setRecorded([...soFar, keysOfPress(event)]);
    if (soFar.length > 0) finish();
    else timer = setTimeout(finish, SEQUENCE_MS);
  }

  return (
    <li>
      <span class="key-label">{props.definition.label}</span>
      <span class="key-keys">
        <Show when={formatKeys(keys(), isMac).length > 0} fallback={<span class="muted">off</span>}>
          <For each={formatKeys(keys(), isMac)}>{(key) => <kbd class="key">{key}</kbd>}</For>
        </Show>
      </span>
      <span class="key-buttons">
        {/* `1-9` are nine keys, which can only be disabled together. */}
        <Show when={props.definition.keys !== "1-9"}>
          <button
            type="button"
            class="button button-quiet"
            data-keys="off"
            aria-label={`Change the keys of ${props.definition.label}`}
            onKeyDown={record}
            onClick={() => setRecorded((soFar) => soFar ?? [])}
            onBlur={finish}
          >
            {recorded() === undefined
              ? "Change"
              : recorded()?.length === 0
                ? "Press the keys…"
                : `${formatKeys(recorded()?.join(" ") ?? "", isMac).join(" ")} …`}
          </button>
        </Show>
        <Show
          when={keys() === props.definition.keys}
          fallback={
            <button
              type="button"
              class="button button-quiet"
              aria-label={`Reset the keys of ${props.definition.label}`}
              onClick={() => store(undefined)}
            >
              Reset
            </button>
          }
        >
          <button
            type="button"
            class="button button-quiet"
            aria-label={`Switch off the keys of ${props.definition.label}`}
            onClick={() => store("")}
          >
            Off
          </button>
        </Show>
      </span>
      <ProblemText text={problem()} />
    </li>
  );
}
