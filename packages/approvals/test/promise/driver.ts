// Runs inside the sandbox: reads one case per line and writes one report per line. Runs the script with a time limit, compares
// the world before and after, and restores it. The sandbox has its own network, in which listeners on common ports count
// connections.
import { spawn } from "node:child_process";
import { cpSync, lstatSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Case, Report } from "./sandbox.ts";

const [root = "", pristine = "", limit = "0"] = process.argv.slice(2);
const PORTS = [21, 22, 80, 443, 873, 3000, 5432, 8000, 8080, 9418];

let connections = 0;
for (const port of PORTS) {
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.on("error", () => {});
  server.listen(port, "::");
}

/** Records everything about each file except its access time. */
function scan(): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string, name: string): void => {
    const { mode, size, mtimeNs, uid, gid } = lstatSync(path, { bigint: true });
    const isFolder = (mode & 0o170000n) === 0o040000n;
    const isLink = (mode & 0o170000n) === 0o120000n;
    // A folder's time only indicates that an entry changed, which the entries show too.
    const detail = isFolder ? "" : isLink ? readlinkSync(path) : `${size}:${mtimeNs}`;
    found.set(name, `${mode}:${uid}:${gid}:${detail}`);
    if (isFolder) for (const entry of readdirSync(path)) visit(join(path, entry), join(name, entry));
  };
  for (const entry of readdirSync(root)) visit(join(root, entry), entry);
  return found;
}

function restore(): void {
  for (const entry of readdirSync(root)) rmSync(join(root, entry), { recursive: true, force: true });
  for (const entry of readdirSync(pristine))
    cpSync(join(pristine, entry), join(root, entry), {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
    });
}

function run({ shell, script, cwd }: Case): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const child = spawn(shell, ["-c", script], {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: join(root, "home"), LANG: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1" },
    stdio: "ignore",
    detached: true,
  });
  const end = (): void => {
    clearTimeout(timer);
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has ended.
    }
    resolve();
  };
  const timer = setTimeout(end, Number(limit));
  child.once("error", end);
  child.once("exit", end);
  return promise;
}

restore();
let before = scan();
for await (const line of createInterface({ input: process.stdin })) {
  const one = JSON.parse(line) as Case;
  connections = 0;
  await run(one);
  const after = scan();
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((name) => before.get(name) !== after.get(name)).toSorted();
  const report: Report = { changed, connections };
  // Restored before the report, because the next script is judged by the files of the world as soon as the report arrives.
  if (changed.length > 0) {
    restore();
    before = scan();
  }
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
process.exit();
