/** Where a canonical host lies. Names are judged by their text: what a name resolves to is not known here. */
export type HostRange = "loopback" | "private" | "metadata" | "public";

const METADATA = new Set([
  "169.254.169.254",
  "169.254.170.2",
  "100.100.100.200",
  "metadata.google.internal",
  "metadata",
  "fd00:ec2::254",
  "instance-data",
  "metadata.goog",
]);

export function rangeOf(host: string): HostRange {
  const bare = host;
  if (METADATA.has(bare)) return "metadata";
  if (bare === "localhost" || bare.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(bare))
    return "loopback";
  if (bare === "::1" || bare === "0.0.0.0" || bare === "::") return "loopback";
  if (
    /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|0\.)/.test(
      bare,
    )
  ) {
    if (/^\d+\.\d+\.\d+\.\d+$/.test(bare)) return "private";
  }
  if (bare.includes(":") && /^(?:f[cd]|fe[89ab])/.test(bare)) return "private";
  // A name without a dot, and the endings of home and company networks, lead inside.
  if (!bare.includes(".") && !bare.includes(":")) return "private";
  return /\.(?:local|internal|lan|home|corp|intranet|home\.arpa)$/.test(bare) ? "private" : "public";
}
