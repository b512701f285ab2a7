/**
 * Formats with three significant digits below 1000 and as a whole number above, because the noise does not allow more. The locale
 * is fixed, so that tables from two machines are comparable.
 */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3, maximumFractionDigits: 6 });
}

/** Formats a spread of 0.034 as "±3%". */
export function formatSpread(spread: number): string {
  return Number.isFinite(spread) ? `±${(spread * 100).toFixed(0)}%` : "±–";
}
