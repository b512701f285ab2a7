/** Encodings in which files can be stored, with their file name extensions. The smallest comes first. */
const STORED = [
  { encoding: "br", ending: ".br" },
  { encoding: "gzip", ending: ".gz" },
] as const;

export type StoredEncoding = (typeof STORED)[number];

/**
 * Returns the stored encodings that a client accepts, in its order of preference. Encodings with equal weight are
 * ordered by size.
 */
export function acceptedEncodings(header: string | undefined): readonly StoredEncoding[] {
  const weights = new Map<string, number>();
  for (const entry of (header ?? "").split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    if (name !== "")
      weights.set(name === "x-gzip" ? "gzip" : name, weight === undefined ? 1 : Number(weight));
  }
  const weightOf = ({ encoding }: StoredEncoding): number => weights.get(encoding) ?? weights.get("*") ?? 0;
  // The uncompressed file has the weight of `identity`. If that is not specified, it is the last choice.
  const identity = weights.get("identity") ?? 0;
  return STORED.filter((stored) => weightOf(stored) > 0 && weightOf(stored) >= identity).toSorted(
    (one, other) => weightOf(other) - weightOf(one),
  );
}
