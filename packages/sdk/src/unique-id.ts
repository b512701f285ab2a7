/**
 * Returns a random UUID that is unique but can be guessed. Avoids `crypto`, which takes 4 ms to load: the launch of codex waits
 * for the first UUID, and the first turn for the second.
 */
export function uniqueId(): string {
  return "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx".replaceAll("x", () =>
    Math.floor(Math.random() * 16).toString(16),
  );
}
