import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Finding } from "./finding.ts";

interface PtyModule {
  spawn(file: string, args: string[], options: object): { kill(): void; onExit(listener: () => void): void };
}

/** Opens a pseudo-terminal in the same way as the daemon and the exec-server. */
export function checkTerminals(): Finding[] {
  const check = "terminals";
  try {
    // Resolved from the exec-server, so that it is the module that will be used.
    const require = createRequire(import.meta.url);
    const fromServer = createRequire(require.resolve("@codexkit/exec-server/package.json"));
    const pty = fromServer("@lydell/node-pty") as PtyModule;
    const terminal = pty.spawn(process.execPath, ["-e", ""], { cols: 80, rows: 24 });
    terminal.kill();
    return [{ check, status: "ok", message: `pseudo-terminals can be opened${describeUse()}` }];
  } catch (error) {
    const [message = ""] = (error as Error).message.split("\n");
    return [
      {
        check,
        status: "failed",
        message: `No pseudo-terminal can be opened: ${message}`,
        fix: "In a container, mount /dev/pts. Make sure that optional packages are installed: `npm install --include=optional`.",
      },
    ];
  }
}

function describeUse(): string {
  try {
    const [used, limit] = ["nr", "max"].map((name) =>
      readFileSync(`/proc/sys/kernel/pty/${name}`, "utf8").trim(),
    );
    return ` (${used} of ${limit} are in use)`;
  } catch {
    return "";
  }
}
