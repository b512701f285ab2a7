import { createRoot, createSignal } from "solid-js";
import { storedValue } from "../settings/local-store.ts";

const stored = storedValue("pins", (value) =>
  Array.isArray(value) ? value.filter((id) => typeof id === "string") : [],
);

const [read, write] = createRoot(() => createSignal<ReadonlySet<string>>(new Set(stored.read())));

/** IDs of pinned sessions, as a signal. Pins belong to this browser. */
export const pinnedSessions = read;

export function togglePin(sessionId: string): void {
  const next = new Set(read());
  if (!next.delete(sessionId)) next.add(sessionId);
  write(next);
  stored.write([...next]);
}
