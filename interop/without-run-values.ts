import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../", import.meta.url));

/** Replaces what differs from run to run and from machine to machine: folders, ids, ports and times. */
export function withoutRunValues<Value>(value: Value, root: string): Value {
  return map(value) as Value;

  function map(one: unknown): unknown {
    if (typeof one === "string") return clean(one, root);
    if (Array.isArray(one)) return one.map(map);
    if (one === null || typeof one !== "object" || one instanceof RegExp) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, map(inner)]));
  }
}

function clean(text: string, root: string): string {
  return text
    .replaceAll(root, "<folder>")
    .replaceAll(repository, "<repository>/")
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi, "<id>")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
    .replaceAll(/\b\d{13}\b/g, "<time>");
}
