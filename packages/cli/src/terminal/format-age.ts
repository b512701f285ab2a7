const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
];

/** `3m ago`: the largest unit alone. */
export function formatAge(at: number, now: number = Date.now()): string {
  const ms = Math.max(0, now - at);
  const [name, size] = UNITS.find(([, unit]) => ms >= unit) ?? ["s", 1000];
  return ms < 1000 ? "now" : `${Math.floor(ms / size)}${name} ago`;
}

/** `1h 5m`, `2m 3s` or `4.2s`. */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${Math.floor(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
