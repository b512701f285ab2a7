import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DaemonClient } from "../src/client/client.ts";
import type { DaemonHome } from "./start-daemon.ts";

const program = join(import.meta.dirname, "daemon-program.ts");

/** A daemon in a process of its own. */
export interface DaemonProcess {
  readonly child: ChildProcess;
  readonly client: DaemonClient;
  /** Sends a signal and waits for the exit. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

/** @param port Default: a free one. */
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

/**
 * A port that was free a moment ago, so that a client finds the second daemon at the address of the first. Below the ports that
 * the system assigns, so that it is not given to another test in between.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
