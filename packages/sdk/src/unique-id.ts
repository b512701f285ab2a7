/**
 * Returns a random UUID that is unique but can be guessed. Not from `crypto`, which takes 4 ms to load: codex is launched after
 * the first one, and the first turn after the second.
 */
export function uniqueId(): string {
  return "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx".replaceAll("x", () =>
    Math.floor(Math.random() * 16).toString(16),
  );
}
