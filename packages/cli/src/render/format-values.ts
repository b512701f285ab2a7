const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a duration: `7s`, `2m 05s`, `1h 02m`. */
export function formatDuration(ms: number): string {
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  if (ms >= HOUR) return `${Math.floor(ms / HOUR)}h ${pad((ms % HOUR) / MINUTE)}m`;
  if (ms >= MINUTE) return `${Math.floor(ms / MINUTE)}m ${pad((ms % MINUTE) / SECOND)}s`;
  return `${Math.floor(ms / SECOND)}s`;
}

/** Formats an age: `just now`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function formatAge(ms: number): string {
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}

/** Formats a count: `950`, `1.2k`, `38k`, `1.5M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  // The limits are where the next format rounds to, so that 9,999 is not shown as "10.0k".
  if (count < 9_950) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
