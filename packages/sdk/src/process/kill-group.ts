import { spawnSync } from "node:child_process";

/** How long `taskkill` may take. */
const TASKKILL_LIMIT_MS = 5_000;

/** Sends a signal to a process and its group. On Windows every signal ends the whole tree: there is no gentle one. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (process.platform === "win32") {
    spawnSync("taskkill", ["/PID", String(pid), "/T", "/F"], {
      stdio: "ignore",
      windowsHide: true,
      timeout: TASKKILL_LIMIT_MS,
    });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // macOS answers EPERM for a group of which only zombies are left.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
