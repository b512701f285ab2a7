/** Members that name or classify an item. In an item with a short message, they would be the longest text. */
const LABELS = new Set(["type", "id", "status", "phase"]);

/** Returns the longest text of an item, which people regard as its content. */
export function longestText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  let longest = "";
  for (const [name, entry] of Object.entries(value)) {
    const text = LABELS.has(name) ? "" : longestText(entry);
    if (text.length > longest.length) longest = text;
  }
  return longest;
}

/** Returns the text at a JSON pointer. Undefined if there is none. */
export function textAt(value: unknown, pointer: string): string | undefined {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return typeof found === "string" ? found : undefined;
}
