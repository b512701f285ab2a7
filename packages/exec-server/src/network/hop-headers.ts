/** Headers that apply to one connection only and must not be forwarded. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

/** Returns the headers to forward, as alternating names and values in their original order. */
export function forwardedHeaders(raw: readonly string[], without: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : [],
  );
  const dropped = new Set(HOP_BY_HOP);
  for (const [name, value] of pairs) {
    if (name.toLowerCase() === "connection")
      for (const token of value.split(",")) dropped.add(token.trim().toLowerCase());
  }
  // The `Connection` header must not remove the headers that frame the body.
  for (const kept of ["content-length", "transfer-encoding"]) dropped.delete(kept);
  for (const name of without) dropped.add(name);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}
