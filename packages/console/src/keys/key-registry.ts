import type { KeyDefinition, KeyScope } from "./key-catalogue.ts";
import { matchesKey, parseKeys, type KeyPress } from "./parse-keys.ts";

export interface KeyBinding extends KeyDefinition {
  /** Stable name for settings, such as `inbox.next`. */
  readonly id: string;
  /** Return `false` to pass the key to other bindings. */
  readonly run: (event: KeyboardEvent) => unknown;
}

export interface KeyGroup {
  readonly scope: KeyScope;
  readonly bindings: readonly KeyBinding[];
  /** Bindings act only while the focus is inside this element. */
  readonly element?: () => HTMLElement | undefined;
}

export interface KeySettings {
  /** Whether keys without Ctrl, Cmd or Alt are active. */
  readonly singleKeys: boolean;
  /** Changed keys of bindings, by ID. An empty text disables the binding. */
  readonly changed: Readonly<Record<string, string>>;
}

/** Maximum time between two keys of a sequence, in milliseconds. */
const SEQUENCE_MS = 1_000;

/** All bindings of the page, with a single listener. */
export class KeyRegistry {
  settings: KeySettings = { singleKeys: true, changed: {} };
  readonly #groups = new Set<KeyGroup>();
  #pressed: KeyPress[] = [];
  #pressedAt = 0;

  /** Adds bindings. Returns a function that removes them. */
  add(group: KeyGroup): () => void {
    this.#groups.add(group);
    return () => this.#groups.delete(group);
  }

  /** All groups, most recently added last. */
  groups(): readonly KeyGroup[] {
    return [...this.#groups];
  }

  /** The keys of a binding, including the user's changes. */
  keysOf({ id, keys }: Pick<KeyBinding, "id" | "keys">): string {
    return this.settings.changed[id] ?? keys;
  }

  /** Runs the binding of a pressed key, if there is one. */
  handle(event: KeyboardEvent, target: EventTarget | null): void {
    if (event.defaultPrevented || event.isComposing) return;
    if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    if (event.timeStamp - this.#pressedAt > SEQUENCE_MS) this.#pressed = [];
    this.#pressedAt = event.timeStamp;
    this.#pressed = [...this.#pressed, event].slice(-2);
    const isField = isTextField(target);
    for (const group of this.#inOrder(target)) {
      for (const binding of group.bindings) {
        if (isField && !binding.inFields) continue;
        if (!this.#matches(binding, event)) continue;
        if (binding.run(event) === false) continue;
        event.preventDefault();
        this.#pressed = [];
        return;
      }
    }
  }

  /** Orders groups: those of the focused element first, then the newest. Sequences of pages are last. */
  #inOrder(target: EventTarget | null): KeyGroup[] {
    const contains = ({ element }: KeyGroup): boolean =>
      element !== undefined && target instanceof Node && (element()?.contains(target) ?? false);
    // Behind a modal dialog, nothing can be seen or focused.
    const modal = typeof document === "undefined" ? null : document.querySelector("dialog:modal");
    const groups = this.groups()
      .toReversed()
      .filter(({ element }) => !modal || (element !== undefined && modal.contains(element() ?? null)));
    return [...groups.filter(contains), ...groups.filter(({ element }) => element === undefined)];
  }

  #matches(binding: KeyBinding, event: KeyboardEvent): boolean {
    const keys = this.keysOf(binding);
    if (keys === "") return false;
    const presses = parseKeys(keys);
    const isSingle = presses.every(({ ctrl, meta, alt, mod }) => !ctrl && !meta && !alt && !mod);
    if (isSingle && !this.settings.singleKeys && !/^(?:Escape|Enter|Arrow)/.test(keys)) return false;
    const recent: readonly KeyPress[] = presses.length === 1 ? [event] : this.#pressed.slice(-presses.length);
    // A second key of a sequence is not a binding of its own.
    if (presses.length === 1 && this.#isSequence()) return false;
    return (
      recent.length === presses.length && presses.every((press, index) => matchesKey(press, recent[index]))
    );
  }

  /** Whether the last two keys are a sequence of some binding. */
  #isSequence(): boolean {
    if (this.#pressed.length < 2) return false;
    return this.groups().some(({ bindings }) =>
      bindings.some((binding) => {
        const presses = parseKeys(this.keysOf(binding));
        return (
          presses.length === 2 && presses.every((press, index) => matchesKey(press, this.#pressed[index]))
        );
      }),
    );
  }
}

function isTextField(target: EventTarget | null): boolean {
  if (typeof Element === "undefined" || !(target instanceof Element)) return false;
  // Until the next frame, the field of a dialog that was closed keeps the focus.
  if (target.closest("dialog:not([open])")) return false;
  if (target.closest("[data-keys='off']")) return true;
  if (target instanceof HTMLInputElement) {
    return !["button", "checkbox", "radio", "range", "submit"].includes(target.type);
  }
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
