/** Phrases that programs print when they were denied something. Codex's list. */
const WORDS = [
  "operation not permitted",
  "permission denied",
  "read-only file system",
  "seccomp",
  "sandbox",
  "landlock",
  "failed to write file",
];

/** Exit code after SIGSYS, as shells report it. */
const SIGSYS_EXIT = 128 + 31;

/** Whether the last output of a sandboxed process looks like a denial. */
export function looksDenied(exitCode: number, tail: Buffer): boolean {
  if (exitCode === 0) return false;
  if (exitCode === SIGSYS_EXIT) return true;
  const text = tail.toString("latin1").toLowerCase();
  return WORDS.some((words) => text.includes(words));
}
