/** Counts files and lines of a unified diff, as the daemon does for the turns of the history. */
export function diffStat(diff: string): { files: number; added: number; removed: number } {
  const stat = { files: 0, added: 0, removed: 0 };
  for (let at = 0; at < diff.length;) {
    if (diff.startsWith("diff --git ", at)) stat.files += 1;
    else if (diff[at] === "+" && !diff.startsWith("+++ ", at)) stat.added += 1;
    else if (diff[at] === "-" && !diff.startsWith("--- ", at)) stat.removed += 1;
    const end = diff.indexOf("\n", at);
    at = end === -1 ? diff.length : end + 1;
  }
  return stat;
}
