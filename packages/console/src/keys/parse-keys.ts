/** The properties of a `KeyboardEvent` that bindings use. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

export interface ParsedKey {
  readonly key: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
  /** Ctrl or Cmd. */
  readonly mod: boolean;
}

/** Parses `g i`, `Shift+A` or `$mod+k`. `1-9` is any of these digits. */
export function parseKeys(keys: string): ParsedKey[] {
  return keys.split(" ").map((part) => {
    // `+` itself is a key too.
    const names = part === "+" ? ["+"] : part.split("+").map((name) => (name === "" ? "+" : name));
    const has = (name: string): boolean => names.slice(0, -1).includes(name);
    return {
      key: names.at(-1) ?? "",
      ctrl: has("Ctrl"),
      meta: has("Meta"),
      alt: has("Alt"),
      shift: has("Shift"),
      mod: has("$mod"),
    };
  });
}

/** Whether a press matches a parsed key. Shift is ignored for characters that are typed with it, such as `?`. */
export function matchesKey(parsed: ParsedKey, press: KeyPress | undefined): boolean {
  if (!press) return false;
  const isLetter = /^\p{L}$/u.test(parsed.key);
  const isCharacter = parsed.key.length === 1 && !isLetter;
  const isSameKey =
    parsed.key === "1-9"
      ? /^[1-9]$/.test(press.key)
      : isLetter
        ? press.key.toLowerCase() === parsed.key.toLowerCase()
        : press.key === (parsed.key === "Space" ? " " : parsed.key);
  const isMod = press.ctrlKey || press.metaKey;
  return (
    isSameKey &&
    (isCharacter || press.shiftKey === parsed.shift) &&
    press.altKey === parsed.alt &&
    (parsed.mod ? isMod : press.ctrlKey === parsed.ctrl && press.metaKey === parsed.meta)
  );
}

/** Formats a press for the settings. */
export function keysOfPress({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string {
  const isCharacter = key.length === 1 && !/^\p{L}$/u.test(key) && key !== " ";
  const name = key === " " ? "Space" : key.length === 1 && !shiftKey ? key.toLowerCase() : key;
  const parts = [
    ctrlKey || metaKey ? "$mod" : "",
    altKey ? "Alt" : "",
    shiftKey && !isCharacter ? "Shift" : "",
    shiftKey && !isCharacter && key.length === 1 ? key.toUpperCase() : name,
  ];
  return parts.filter((part) => part !== "").join("+");
}

const NAMES: Readonly<Record<string, string>> = {
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Enter: "↵",
};

/** Formats keys for display, one text per key of a sequence: `g i`, `⌘ K`. */
export function formatKeys(keys: string, isMac: boolean): string[] {
  if (keys === "") return [];
  return parseKeys(keys).map(({ key, ctrl, meta, alt, shift, mod }) => {
    const parts = [
      mod ? (isMac ? "⌘" : "Ctrl") : "",
      ctrl ? "Ctrl" : "",
      meta ? "⌘" : "",
      alt ? (isMac ? "⌥" : "Alt") : "",
      shift ? "⇧" : "",
      NAMES[key] ?? (mod || shift ? key.toUpperCase() : key),
    ];
    return parts.filter((part) => part !== "").join(" ");
  });
}
