import { createSignal } from "solid-js";

const [announcement, setAnnouncement] = createSignal("");

/** The text that screen readers announce next. The shell has the polite live region with this text. */
export { announcement };

/** Announces a text to screen readers, without moving the focus. */
export function announce(text: string): void {
  // A repeated text is announced again only if it differs.
  setAnnouncement((previous) => (previous === text ? `${text}\u00A0` : text));
}
