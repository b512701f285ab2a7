import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { EXIT, type ExitCode, SilentExit } from "../errors/cli-error.ts";
import { lifetime } from "../process/lifetime.ts";

/** Becomes the exec-server, in the same process where the system can do that: signals and exit codes are then its own. */
export async function runExecServer(args: readonly string[]): Promise<void> {
  const require = createRequire(import.meta.url);
  const program = join(
    require.resolve("@codexkit/exec-server/package.json"),
    "../bin/codexkit-exec-server.mjs",
  );
  const argv = [program, ...args];
  if (typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(process.execPath, [process.execPath, ...argv], process.env);
  }
  const child = spawn(process.execPath, argv, { stdio: "inherit" });
  // It gets Ctrl-C from the terminal too.
  using _handler = lifetime.onShutDown(() => child.kill("SIGTERM"));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new SilentExit((code ?? EXIT.failed) as ExitCode);
}
