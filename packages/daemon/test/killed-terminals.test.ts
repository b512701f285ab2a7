import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { DaemonClient } from "../src/client/client.ts";
import { useDatabases } from "./database-fixture.ts";
import { TestViewer } from "./terminal-viewer.ts";

const program = join(import.meta.dirname, "terminal-daemon-program.ts");
const databases = useDatabases("sqlite");

interface StartedProcess {
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
  return { child, ...(JSON.parse(String(line)) as Omit<StartedProcess, "child">) };
}

/** Processes whose environment has this text. */
async function processesWith(text: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const environments = await Promise.all(
    pids.map(async (pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")),
  );
  return pids.filter((_, index) => environments[index]?.includes(text));
}

test("kill -9 of the daemon leaves no process of a terminal", async () => {
  const { child, url, token, root, state } = await startProcess();
  const client = new DaemonClient({ url, token });
  const { session } = await client.createSession({ cwd: root }, { wait: 20_000 });
  const mark = `CODEXKIT_TEST_MARK=${session.id}`;
  // One that ignores the signals of a terminal that is gone, one in the background, and one in a session of its own.
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
  const until = Date.now() + 10_000;
  let left: number[];
  do {
    await delay(20);
    left = [...(await processesWith(mark)), ...(await Promise.all(host.map(lives))).filter((pid) => pid > 0)];
  } while (left.length > 0 && Date.now() < until);
  expect(left).toEqual([]);
  for (const folder of [root, state]) await rm(folder, { recursive: true, force: true });
}, 40_000);

/** The processes that the daemon has started for its terminals. */
async function hostOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.trim().split(" ").filter(Boolean).map(Number);
}

/** The PID, or 0 if the process has ended. */
async function lives(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat) ? pid : 0;
}
