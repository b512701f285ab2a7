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

const PRIVATE_IPV4 =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|0\.)/;

export function rangeOf(host: string): HostRange {
  if (METADATA.has(host)) return "metadata";
  if (host === "localhost" || host.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(host))
    return "loopback";
  if (host === "::1" || host === "0.0.0.0" || host === "::") return "loopback";
  if (PRIVATE_IPV4.test(host) && /^\d+\.\d+\.\d+\.\d+$/.test(host)) return "private";
  if (host.includes(":") && /^(?:f[cd]|fe[89ab])/.test(host)) return "private";
  // A name without a dot, and the endings of home and company networks, lead inside.
  if (!host.includes(".") && !host.includes(":")) return "private";
  return /\.(?:local|internal|lan|home|corp|intranet|home\.arpa)$/.test(host) ? "private" : "public";
}
