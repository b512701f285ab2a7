import { spawnSync } from "node:child_process";

const TASKKILL_LIMIT_MS = 5_000;

/** Sends a signal to a process and its group. Windows has no graceful signal, so there any signal kills the process tree. */
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
    // macOS reports EPERM for a group that consists only of zombies.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
