import { CODES, Refusal } from "../wire/refusal.ts";
import { canonicalHost } from "./host-name.ts";

export type HostMatcher = (host: string) => boolean;

/** The longest pattern: no host is longer. */
const MAX_LENGTH = 260;

/**
 * `example.com` is that host, `*.example.com` what is below it, `**.example.com` both, `*` every host. A `*` or `?` in
 * between stands for any characters or for one. Refused when it can't be understood: it may be a denial.
 */
export function hostPattern(text: string): HostMatcher {
  const pattern = text.trim();
  if (pattern === "*") return () => true;
  const [, prefix = "", rest = ""] = /^(\*{0,2}\.)?(.*)$/s.exec(pattern) ?? [];
  const domain = canonicalPattern(rest);
  if (domain === undefined || prefix === "." || pattern.length > MAX_LENGTH) {
    throw new Refusal(CODES.invalidParams, `invalid network proxy config: can't understand domain "${text}"`);
  }
  const apex: HostMatcher = /[*?]/.test(domain)
    ? (host) => globMatches(domain, host)
    : (host) => host === domain;
  if (prefix === "") return apex;
  const below: HostMatcher = (host) => globMatches(`?*.${domain}`, host);
  return prefix === "*." ? below : (host) => apex(host) || below(host);
}

/** Whether a pattern names one host and no other. */
export function isExactPattern(text: string): boolean {
  return !/[*?]/.test(text);
}

function canonicalPattern(domain: string): string | undefined {
  if (isExactPattern(domain)) return canonicalHost(domain);
  const written = domain.toLowerCase().replace(/\.+$/, "");
  return /^[a-z0-9._*?-]+$/.test(written) ? written : undefined;
}

/** Without a regular expression: its time grows with the text alone, whatever the pattern. */
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
      // The last star takes one character more.
      resume += 1;
      at = star + 1;
      index = resume;
    } else return false;
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}
