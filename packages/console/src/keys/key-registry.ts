/** Where bindings belong, in the sheet of keys and in the settings. */
export type KeyScope = "everywhere" | "list" | "transcript" | "approval" | "diff" | "composer" | "terminal";

export interface KeyBinding {
  /** Stable name for settings, such as `inbox.open`. */
  readonly id: string;
  /** Such as `j`, `Shift+A`, `g i` for a sequence, or `$mod+k` for Ctrl or Cmd. */
  readonly keys: string;
  /** What it does, for the sheet of keys. */
  readonly label: string;
  /** Also acts while a text field has the focus. */
  readonly inFields?: boolean;
  /** Return `false` to leave the key to other bindings. */
  readonly run: (event: KeyboardEvent) => unknown;
}

export interface KeyGroup {
  readonly scope: KeyScope;
  readonly bindings: readonly KeyBinding[];
  /** Bindings act only while the focus is inside this element. */
  readonly element?: () => HTMLElement | undefined;
}

export interface KeyRegistry {
  /** Adds bindings. Returns a function that removes them. */
  readonly add: (group: KeyGroup) => () => void;
  /** All groups, most recently added last. */
  readonly groups: () => readonly KeyGroup[];
}

export function createKeyRegistry(): KeyRegistry {
  const groups = new Set<KeyGroup>();
  return {
    add: (group) => {
      groups.add(group);
      return () => groups.delete(group);
    },
    groups: () => [...groups],
  };
}
