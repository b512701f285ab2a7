/**
 * Three significant digits below a thousand, whole numbers with separators above: more digits than the noise
 * allows would only look exact. The locale is fixed, so that tables from two machines can be compared.
 */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3, maximumFractionDigits: 6 });
}

/** A spread of 0.034 as "±3%". */
export function formatSpread(spread: number): string {
  return Number.isFinite(spread) ? `±${(spread * 100).toFixed(0)}%` : "±–";
}
