import { createSignal } from "solid-js";

const [announcement, setAnnouncement] = createSignal("");

/** What screen readers say next. The shell has the polite live region that reads it. */
export { announcement };

/** Announces a text to screen readers, without moving the focus. */
export function announce(text: string): void {
  // The same text twice is announced twice only if it differs.
  setAnnouncement((previous) => (previous === text ? `${text}\u00A0` : text));
}
