const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** `850 ms`, `12 s`, `3m 12s`, `2h 5m`, `4d 1h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const index = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[index] ?? UNITS[3];
  const next = UNITS[index + 1];
  const whole = Math.floor(ms / size);
  if (!next) return `${whole} s`;
  const rest = Math.floor((ms - whole * size) / next[1]);
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit} ${rest}${next[0]}`;
}

/** `950`, `12.4k`, `3.1M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  const isSmall = count < 999_950;
  const value = count / (isSmall ? 1_000 : 1_000_000);
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${isSmall ? "k" : "M"}`;
}

/** `512 B`, `1.5 KB`, `12 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const units = ["KB", "MB", "GB"];
  let value = bytes / 1_024;
  let unit = 0;
  while (value >= 1_023.5 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ${units[unit]}`;
}
