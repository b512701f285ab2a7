/** Scheme, host and port. `URL` would also accept backslashes, tabs and spaces. */
const ORIGIN = /^https?:\/\/[^\s\\/?#@]+\/?$/i;

/**
 * Parses the origin of a node, from its row or its options. Undefined if the URL has anything else: a path, a query or credentials
 * would become part of requests that carry a signed token.
 */
export function parseNodeUrl(url: string | null): URL | undefined {
  if (url === null || !ORIGIN.test(url) || !URL.canParse(url)) return undefined;
  return new URL(url);
}
