import { PolicyError } from "../errors.ts";
import { canonicalHost, type Endpoint } from "./endpoint.ts";

/**
 * `example.com` is that host alone, `*.example.com` every host below it, `**.example.com` both, `*` every host.
 * `:8080` or `:8000-8999` at the end names the ports.
 */
export type HostPattern = (endpoint: Endpoint) => boolean;

export function compileHostPattern(pattern: string): HostPattern {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.*_-]+)(?::(\d+)(?:-(\d+))?)?$/i.exec(pattern);
  if (match === null) {
    throw new PolicyError(
      "invalid_rule",
      `"${pattern}" is not a host pattern: write example.com, *.example.com or example.com:8080`,
    );
  }
  const [, rawHost = "", low, high = low] = match;
  const bare = rawHost.replace(/^\[|\]$/g, "").toLowerCase();
  const host = bare.includes("*") ? bare : (canonicalHost(rawHost) ?? bare);
  const matchesHost = hostMatcher(host, pattern);
  if (low === undefined) return (endpoint) => matchesHost(endpoint.host);
  const [from, to] = [Number(low), Number(high)];
  // A port that is not known can't be the one that was allowed.
  return ({ host: name, port }) => matchesHost(name) && port !== undefined && port >= from && port <= to;
}

function hostMatcher(host: string, pattern: string): (name: string) => boolean {
  if (host === "*") return () => true;
  const star = /^(\*\*?)\.(.+)$/.exec(host);
  const rest = star?.[2] ?? host;
  if (rest.includes("*"))
    throw new PolicyError("invalid_rule", `"${pattern}": a star may only stand before the first dot`);
  if (star === null) return (name) => name === host;
  const suffix = `.${rest}`;
  return star[1] === "**"
    ? (name) => name === rest || name.endsWith(suffix)
    : (name) => name.endsWith(suffix);
}
