export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly density: "comfortable" | "compact";
  /** Whether keys without Ctrl, Cmd or Alt act. */
  readonly singleKeys: boolean;
  /** Other keys for bindings, by their ID. Empty: none. */
  readonly keys: Readonly<Record<string, string>>;
  /** Notifications of the browser for new approvals. */
  readonly notifications: boolean;
  readonly sound: boolean;
}

export const DEFAULT_PREFERENCES: Preferences = {
  theme: "system",
  density: "comfortable",
  singleKeys: true,
  keys: {},
  notifications: false,
  sound: false,
};

/** Reads stored preferences. What is missing or wrong has its default. */
export function parsePreferences(text: string | null): Preferences {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "{}");
  } catch {
    stored = {};
  }
  const given = (typeof stored === "object" && stored !== null ? stored : {}) as Partial<Preferences>;
  const { theme, density, singleKeys, keys, notifications, sound } = given;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    density: density === "compact" ? "compact" : "comfortable",
    singleKeys: singleKeys !== false,
    keys: isTexts(keys) ? keys : {},
    notifications: notifications === true,
    sound: sound === true,
  };
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((entry) => typeof entry === "string")
  );
}
