/** The credential with which a browser logs in. */
export type LoginInput = { readonly token: string } | { readonly code: string };

const CODE_PREFIX = "ckl_";

/** Parses the login field: a token, a code, or a link with a code. Undefined if it is empty. */
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

/** The link that logs another device in. Browsers don't send fragments to servers. */
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

/** A name for this browser in lists of logins, such as `Firefox on Android`. */
export function deviceName(userAgent: string): string {
  const find = (names: typeof BROWSERS): string | undefined =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = find(BROWSERS) ?? "Browser";
  const system = find(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
