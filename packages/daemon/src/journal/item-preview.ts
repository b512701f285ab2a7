/** Limits of the preview of an item, in UTF-16 units. The tail is longer, because the end of command output matters most. */
const HEAD = 2_048;
const TAIL = 4_096;
const BUDGET = 65_536;
const LEAST = 256;
const MAX_ENTRIES = 500;

/**
 * Returns a copy of an item with long texts cut in the middle. `truncated` has the full length of each cut text or list, by JSON
 * pointer.
 */
export function previewItem(item: object): Record<string, unknown> {
  const truncated: Record<string, number> = {};
  let budget = BUDGET;
  const copy = (value: unknown, path: string): unknown => {
    if (typeof value === "string") {
      const limit = Math.max(LEAST, Math.min(HEAD + TAIL, budget));
      budget -= Math.min(value.length, limit);
      if (value.length <= limit) return value;
      truncated[path] = value.length;
      return cutMiddle(value, limit);
    }
    if (Array.isArray(value)) {
      if (value.length > MAX_ENTRIES) truncated[path] = value.length;
      return value.slice(0, MAX_ENTRIES).map((entry, index) => copy(entry, `${path}/${index}`));
    }
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, entry]) => [key, copy(entry, `${path}/${escapePointer(key)}`)]),
      );
    }
    return value;
  };
  const preview = copy(item, "") as Record<string, unknown>;
  return Object.keys(truncated).length === 0 ? preview : { ...preview, truncated };
}

/** Returns the beginning and the end of a text, in the ratio of `HEAD` to `TAIL`. Surrogate pairs that were split are replaced. */
export function cutMiddle(text: string, limit: number = HEAD + TAIL): string {
  if (text.length <= limit) return text;
  const head = Math.floor((limit * HEAD) / (HEAD + TAIL));
  return `${text.slice(0, head)}…${text.slice(text.length - (limit - head))}`.toWellFormed();
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
