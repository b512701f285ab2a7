import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DaemonClient } from "../src/client/client.ts";
import type { DaemonHome } from "./start-daemon.ts";

const program = join(import.meta.dirname, "daemon-program.ts");

/** A daemon in a separate process. */
export interface DaemonProcess {
  readonly child: ChildProcess;
  readonly client: DaemonClient;
  /** Sends a signal and waits until the process exits. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

/** @param port Default: a free port. */
export async function startDaemonProcess(
  { options, folders, stateFolder }: DaemonHome,
  port = 0,
): Promise<DaemonProcess> {
  const { store, roots, userCodexHome } = options;
  const settings = { port, stateFolder, store, roots, userCodexHome, env: folders.env };
  const child = spawn(process.execPath, ["--conditions=codexkit:source", program, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [line] = (await Promise.race([
    once(child.stdout, "data"),
    exited.then(([code]) => Promise.reject(new Error(`The daemon ended with ${code}.`))),
  ])) as [Buffer];
  const token = (await readFile(join(stateFolder, "token"), "utf8")).trim();
  return {
    child,
    client: new DaemonClient({ url: String(line).trim(), token }),
    end: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}
