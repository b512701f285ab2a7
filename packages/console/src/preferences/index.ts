// What a person has chosen for this browser.
export { preferences, setPreferences, type Preferences } from "./preferences.ts";
