/** What a browser logs in with. */
export type LoginInput = { readonly token: string } | { readonly code: string };

const CODE_PREFIX = "ckl_";

/** Reads the field of the login: a token, a code, or a link with a code. Undefined if it is empty. */
export function readLogin(text: string): LoginInput | undefined {
  const value = text.trim();
  if (value === "") return undefined;
  const code = readCode(value.includes("#") ? value.slice(value.indexOf("#")) : "");
  if (code !== undefined) return { code };
  return value.startsWith(CODE_PREFIX) ? { code: value } : { token: value };
}

/** The code in the fragment of a link, such as `#code=abc`. */
export function readCode(fragment: string): string | undefined {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("code") ?? undefined;
}

/** The link that logs another device in. Fragments are sent to no server. */
export function loginLink(origin: string, code: string): string {
  return `${origin}/console/login#code=${encodeURIComponent(code)}`;
}

const BROWSERS: readonly (readonly [mark: string, name: string])[] = [
  ["Edg/", "Edge"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
];

const SYSTEMS: readonly (readonly [mark: string, name: string])[] = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS", "macOS"],
  ["Linux", "Linux"],
];

/** A name for this browser, which lists of logins show: `Firefox on Android`. */
export function deviceName(userAgent: string): string {
  const find = (names: typeof BROWSERS): string | undefined =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = find(BROWSERS) ?? "Browser";
  const system = find(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
