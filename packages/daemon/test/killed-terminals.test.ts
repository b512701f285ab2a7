import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DaemonClient } from "../src/client/client.ts";
import { useDatabases } from "./database-fixture.ts";
import { pollUntil } from "./poll-until.ts";
import { processesWith } from "./processes-with.ts";
import { TestViewer } from "./terminal-viewer.ts";

const program = join(import.meta.dirname, "terminal-daemon-program.ts");
const databases = useDatabases("sqlite");

interface StartedProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  readonly root: string;
  readonly state: string;
}

async function startProcess(): Promise<StartedProcess> {
  const location = await databases.location();
  const child = spawn(process.execPath, ["--conditions=codexkit:source", program, location], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const started = JSON.parse(String(line)) as Pick<StartedProcess, "url" | "token" | "root" | "state">;
  return {
    child,
    ...started,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      for (const folder of [started.root, started.state]) await rm(folder, { recursive: true, force: true });
    },
  };
}

test("kill -9 of the daemon leaves no process of a terminal", async () => {
  await using daemon = await startProcess();
  const { child, url, token, root } = daemon;
  const client = new DaemonClient({ url, token });
  const { session } = await client.createSession({ cwd: root }, { wait: 20_000 });
  const mark = `CODEXKIT_TEST_MARK=${session.id}`;
  // One process ignores hangups, one runs in the background, and one in another kernel session.
  const script = `export ${mark}; trap '' HUP TERM; (trap '' HUP TERM; exec sleep 1000) & setsid sleep 1001 & echo started; exec env sleep 1002`;
  const terminal = await client.request("POST /sessions/{sessionId}/terminals", {
    params: { sessionId: session.id },
    body: { command: ["sh", "-c", script] },
  });
  const path = `/sessions/${session.id}/terminals/${terminal.id}/attach`;
  await using viewer = await TestViewer.connect(`${url}${path}`, { authorization: `Bearer ${token}` });
  await viewer.until(({ text }) => text.includes("started"));
  const host = await hostOf(child.pid ?? 0);
  expect(host.length).toBeGreaterThan(0);
  expect((await processesWith(mark)).length).toBeGreaterThan(0);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  await pollUntil(async () => (await processesWith(mark)).length === 0);
  await pollUntil(async () => !(await Promise.all(host.map(isRunning))).includes(true));
}, 60_000);

/** The processes that the daemon has started for its terminals. */
async function hostOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.trim().split(" ").filter(Boolean).map(Number);
}

/** The PID, or 0 if the process has ended. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}
