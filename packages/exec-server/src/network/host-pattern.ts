import { CODES, Refusal } from "../wire/refusal.ts";
import { canonicalHost } from "./host-name.ts";

export type HostMatcher = (host: string) => boolean;

/** Maximum length of a pattern. No host is longer. */
const MAX_LENGTH = 260;

/**
 * Compiles a pattern: `example.com` matches that host, `*.example.com` its subdomains, `**.example.com` both,
 * and `*` every host. Elsewhere, `*` matches any characters and `?` one. Throws for an invalid pattern,
 * because it may be a denial.
 */
export function hostPattern(text: string): HostMatcher {
  const pattern = text.trim();
  if (pattern === "*") return () => true;
  const [, prefix = "", rest = ""] = /^(\*{0,2}\.)?(.*)$/s.exec(pattern) ?? [];
  const domain = canonicalPattern(rest);
  if (domain === undefined || prefix === "." || pattern.length > MAX_LENGTH) {
    throw new Refusal(
      CODES.invalidParams,
      `invalid network proxy config: unsupported domain pattern "${text}"`,
    );
  }
  const apex: HostMatcher = /[*?]/.test(domain)
    ? (host) => globMatches(domain, host)
    : (host) => host === domain;
  if (prefix === "") return apex;
  const below: HostMatcher = (host) => globMatches(`?*.${domain}`, host);
  return prefix === "*." ? below : (host) => apex(host) || below(host);
}

/** Whether a pattern matches exactly one host. */
export function isExactPattern(text: string): boolean {
  return !/[*?]/.test(text);
}

function canonicalPattern(domain: string): string | undefined {
  if (isExactPattern(domain)) return canonicalHost(domain);
  const written = domain.toLowerCase().replace(/\.+$/, "");
  return /^[a-z0-9._*?-]+$/.test(written) ? written : undefined;
}

/** Does not use a regular expression, whose running time could depend on the pattern. */
function globMatches(glob: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < text.length;) {
    if (glob[at] === "*") {
      star = at;
      at += 1;
      resume = index;
    } else if (glob[at] === "?" || glob[at] === text[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      // The last star matches one character more.
      resume += 1;
      at = star + 1;
      index = resume;
    } else return false;
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}
