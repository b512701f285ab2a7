/** Headers that hold for one connection alone, and not for the message. */
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

/** The headers of a message that go on with it, as name and value by turns, in their order. */
export function forwardedHeaders(raw: readonly string[], without: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : [],
  );
  const dropped = new Set(HOP_BY_HOP);
  for (const [name, value] of pairs) {
    if (name.toLowerCase() === "connection")
      for (const token of value.split(",")) dropped.add(token.trim().toLowerCase());
  }
  // Whatever `Connection` says: how the body is framed is not for it to take away.
  for (const kept of ["content-length", "transfer-encoding"]) dropped.delete(kept);
  for (const name of without) dropped.add(name);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}
