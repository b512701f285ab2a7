import { createSignal } from "solid-js";
import { parsePreferences, type Preferences } from "./parse-preferences.ts";

export type { Preferences } from "./parse-preferences.ts";

const KEY = "codexkit.console";

const [preferences, setStored] = createSignal<Preferences>(parsePreferences(localStorage.getItem(KEY)));
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY) setStored(parsePreferences(newValue));
});

/** What a person has chosen for this browser. Reactive; other tabs follow. */
export { preferences };

/** Changes preferences and stores them. */
export function setPreferences(changes: Partial<Preferences>): void {
  const next = { ...preferences(), ...changes };
  setStored(next);
  localStorage.setItem(KEY, JSON.stringify(next));
}
