import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { EXIT, type ExitCode, SilentExit } from "../errors/cli-error.ts";
import { lifetime } from "./lifetime.ts";

/**
 * Runs a program of another package, in this process where the system allows it, so that signals and exit
 * codes are the program's own.
 *
 * @param manifestUrl The URL of the package's `package.json`.
 */
export async function becomeProgram(
  manifestUrl: string,
  bin: string,
  args: readonly string[],
): Promise<void> {
  const argv = [fileURLToPath(new URL(`bin/${bin}.mjs`, manifestUrl)), ...args];
  if (typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(process.execPath, [process.execPath, ...argv], process.env);
  }
  const child = spawn(process.execPath, argv, { stdio: "inherit" });
  // The program also receives Ctrl-C from the terminal.
  using _handler = lifetime.onShutDown(() => child.kill("SIGTERM"));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new SilentExit((code ?? EXIT.failed) as ExitCode);
}
