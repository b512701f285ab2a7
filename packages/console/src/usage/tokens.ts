const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1000, m: 1_000_000 };

/** Parses a number of tokens such as `200k`, `1.5M` or `80,000`. Undefined if the text is invalid. */
export function parseTokens(text: string): number | undefined {
  const match = /^(\d[\d,_ ]*(?:\.\d+)?)\s*([km]?)$/i.exec(text.trim());
  const factor = UNITS[match?.[2]?.toLowerCase() ?? ""];
  if (!match?.[1] || factor === undefined) return undefined;
  const value = Math.round(Number(match[1].replaceAll(/[,_ ]/g, "")) * factor);
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}
