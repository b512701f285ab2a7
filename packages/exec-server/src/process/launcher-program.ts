// The program that starts children on behalf of the server. Starting a process takes time proportional to the
// memory of its parent, and this program stays small while the server moves megabytes. It is started by its
// path and imports only Node modules and files of its own folder. When the server exits for any reason, the
// launcher's input ends: it then kills every group that it started and exits.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Server } from "node:net";
import { createInterface } from "node:readline";
import { IdleCollector } from "./idle-collector.ts";
import { inheritedDescriptors } from "./inherited-descriptors.ts";
import type { ListenerReport, EntryOrder, LaunchOrder, LaunchReport } from "./launch-order.ts";

const folder = process.argv[2];
// By default, Node opens a debugger port on this signal.
process.on("SIGUSR1", () => {});

/** stdin, stdout, stderr, and the channel for sockets. */
const LAST_OWN_FD = 3;
const groups = new Set<number>();
/** Groups whose first process has exited but that still have a running descendant. */
const lingering = new Set<number>();

function sendReport(report: LaunchReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

function launch({ id, argv, arg0, cwd, env, files, listeners }: LaunchOrder): void {
  const opened: number[] = [];
  try {
    const stdio = files.map((file) => {
      if (file === null) return "ignore" as const;
      const fd = openEnd(file.path, file.mode === "r" ? constants.O_RDONLY : constants.O_WRONLY);
      opened.push(fd);
      return fd;
    });
    const [program = "", ...args] = argv;
    // In its own session and group, so that signals reach all of its processes and no others.
    const child = spawn(program, args, {
      cwd,
      env: listeners ? {} : env,
      stdio: listeners ? [...stdio, "ipc"] : stdio,
      detached: true,
      ...(arg0 === undefined ? {} : { argv0: arg0 }),
    });
    const { pid } = child;
    child.once("error", (error) => fail(id, error));
    if (pid === undefined) return;
    forgetEmptyGroups();
    groups.add(pid);
    sendReport({ id, pid });
    if (listeners) passListeners(id, child, { env, listeners });
    child.once("exit", (code, signal) => {
      sendReport({ id, exit: { code, signal } });
      lingering.add(pid);
      forgetIfEmpty(pid);
    });
  } catch (error) {
    fail(id, error as NodeJS.ErrnoException);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/**
 * Passes the listeners to the server, then closes the channel to the child. The child waits for that, and the
 * program that it executes can't use the channel.
 */
function passListeners(id: number, child: ChildProcess, order: EntryOrder): void {
  let missing = order.listeners.length;
  child.on("message", (name, listener) => {
    if (!(listener instanceof Server) || typeof name !== "string") return;
    const report: ListenerReport = { id, listener: name };
    process.send?.(report, listener, () => {
      // A copy that is left open here would accept connections that are never answered.
      listener.close();
      missing -= 1;
      if (missing === 0 && child.connected) child.disconnect();
    });
  });
  child.send(order, () => {});
}

/** Opening one end of a named pipe blocks until the other end is open, which never happens if the server was just killed. */
function openEnd(path: string, flags: number): number {
  const bothEnds = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    return openSync(path, flags);
  } finally {
    closeSync(bothEnds);
  }
}

function fail(id: number, { code = "EIO", errno = -5 }: NodeJS.ErrnoException): void {
  sendReport({ id, failure: { code, errno } });
}

/** Returns undefined for an incomplete line from a server that was killed while writing. */
function read(line: string): LaunchOrder | undefined {
  try {
    return JSON.parse(line) as LaunchOrder;
  } catch {
    return undefined;
  }
}

function forgetEmptyGroups(): void {
  for (const group of lingering) forgetIfEmpty(group);
}

/** Removes an empty group immediately, because its id may be reused for an unrelated process. */
function forgetIfEmpty(group: number): void {
  if (send(group, 0)) return;
  lingering.delete(group);
  groups.delete(group);
}

function send(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, name);
    return true;
  } catch {
    return false; // The group is empty.
  }
}

function cleanUpAndExit(): void {
  collector[Symbol.dispose]();
  for (const group of groups) send(group, "SIGKILL");
  clearPlaceholders();
  if (folder !== undefined) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    // Shared with servers of the same user that are still running.
    quietly(() => rmdirSync(dirname(folder)));
  }
  process.exit(0);
}

/** Removes mount points of sandboxes that a killed server could not remove (see `placeholders.ts`). */
function clearPlaceholders(): void {
  if (folder === undefined) return;
  const journal = join(folder, "placeholders");
  for (const name of quietly(() => readdirSync(journal)) ?? []) {
    const marker = quietly(() => readlinkSync(join(journal, name)));
    if (marker === undefined) continue;
    quietly(() => rmdirSync(marker));
    quietly(() => rmdirSync(dirname(marker)));
  }
}

/** Closes descriptors that the server inherited, so that no child gets them. */
function closeInherited(): void {
  for (const fd of inheritedDescriptors()) if (fd > LAST_OWN_FD) quietly(() => closeSync(fd));
}

function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

closeInherited();

// The garbage from thousands of orders would otherwise stay until thousands more arrive.
const collector = new IdleCollector({
  collect: () => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }),
  retentionMs: 0,
});

// Signals to the terminal's or the server's group are handled by the server.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => {});
process.stdout.on("error", cleanUpAndExit);
const orders = createInterface({ input: process.stdin, crlfDelay: Infinity });
orders.on("line", (line) => {
  const order = read(line);
  if (order) launch(order);
});
orders.on("close", cleanUpAndExit);
