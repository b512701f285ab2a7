import { createRoot, createSignal } from "solid-js";
import { storedValue } from "./local-store.ts";

/** The user's preferences in this browser. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly density: "comfortable" | "compact";
  /** Whether single keys such as `j` are shortcuts. */
  readonly singleKeys: boolean;
  /** Changed keys of shortcuts, by ID. An empty text disables the shortcut. */
  readonly keys: Readonly<Record<string, string>>;
  readonly notifications: boolean;
  /** The action of Enter while a turn is running. */
  readonly enterWhileRunning: "queue" | "steer";
  /** Whether terminals have an accessible copy of their text, which costs speed. */
  readonly terminalScreenReader: boolean;
  /** Dollars per million tokens. Null if costs are not displayed. */
  readonly prices: { readonly input: number; readonly cachedInput: number; readonly output: number } | null;
}

export const DEFAULT_PREFERENCES: Preferences = {
  theme: "system",
  density: "comfortable",
  singleKeys: true,
  keys: {},
  notifications: false,
  enterWhileRunning: "queue",
  terminalScreenReader: false,
  prices: null,
};

const CHOICES = {
  theme: ["system", "light", "dark"],
  density: ["comfortable", "compact"],
  enterWhileRunning: ["queue", "steer"],
} as const;

const stored = storedValue("preferences", parsePreferences);

const [read, write] = createRoot(() => createSignal(stored.read()));

/** The preferences, as a signal. */
export const preferences = read;

export function changePreferences(change: Partial<Preferences>): void {
  write({ ...read(), ...change });
  stored.write(read());
}

/** Applies preferences that another tab has stored. */
export function reloadPreferences(): void {
  write(stored.read());
}

/** Replaces missing and invalid values by defaults. */
export function parsePreferences(value: unknown): Preferences {
  if (typeof value !== "object" || value === null) return DEFAULT_PREFERENCES;
  const given = value as Partial<Record<keyof Preferences, unknown>>;
  const choice = <Name extends keyof typeof CHOICES>(name: Name): Preferences[Name] =>
    ((CHOICES[name] as readonly unknown[]).includes(given[name])
      ? given[name]
      : DEFAULT_PREFERENCES[name]) as Preferences[Name];
  const flag = (name: "singleKeys" | "notifications" | "terminalScreenReader"): boolean =>
    typeof given[name] === "boolean" ? given[name] : DEFAULT_PREFERENCES[name];
  return {
    theme: choice("theme"),
    density: choice("density"),
    singleKeys: flag("singleKeys"),
    keys: isTexts(given.keys) ? given.keys : DEFAULT_PREFERENCES.keys,
    notifications: flag("notifications"),
    enterWhileRunning: choice("enterWhileRunning"),
    terminalScreenReader: flag("terminalScreenReader"),
    prices: parsePrices(given.prices),
  };
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((entry) => typeof entry === "string")
  );
}

function parsePrices(value: unknown): Preferences["prices"] {
  const prices = value as Preferences["prices"] | undefined;
  if (!prices) return null;
  const { input, cachedInput, output } = prices;
  const isPrice = (price: unknown): boolean => typeof price === "number" && price >= 0 && price < 1e6;
  return [input, cachedInput, output].every(isPrice) ? { input, cachedInput, output } : null;
}
