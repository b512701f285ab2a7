import { storedValue } from "../settings/local-store.ts";

/** ID of the session that was open last in this browser. */
export const lastSession = storedValue("session", (value) => (typeof value === "string" ? value : undefined));
