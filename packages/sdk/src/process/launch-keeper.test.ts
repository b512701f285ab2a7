import { gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { codexFolders, type CodexFolders } from "@codexkit/testing";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Codex } from "../codex.ts";
import type { LaunchOptions } from "../codex-options.ts";
import type { OutlivingAddress } from "./launch-keeper.ts";
import { createKeeperFolder, removeKeeperFolder } from "./keeper-folder.ts";
import { sweepKeeperFolders } from "./sweep-keeper-folders.ts";
import { processTable } from "./process-table.ts";

let released = gate();
let folders: CodexFolders;
let options: LaunchOptions;

const script: ScriptFunction = ({ lastUserText }) =>
  lastUserText === "hold" ? say(["half ", waitFor(released), "whole"]) : say("heard");

beforeEach(async () => {
  released = gate();
  folders = await codexFolders({ model: script });
  onTestFinished(() => folders[Symbol.asyncDispose]());
  options = {
    inheritEnv: false,
    env: folders.env,
    ownersFolder: join(folders.root, "owners"),
    outliveOwner: { graceMs: 60_000 },
  };
});

interface Owner {
  readonly url: string;
  readonly pid: number;
  readonly threadId: string;
  readonly turnId: string;
  /** Sends SIGKILL and waits for the exit. */
  readonly kill: () => Promise<void>;
}

/** Another program, which launched a codex that outlives it, during a turn. */
async function owner(launch: LaunchOptions, ...more: "unregistered"[]): Promise<Owner> {
  const program = join(import.meta.dirname, "../../test/outliving-owner.ts");
  const given = JSON.stringify({ ...launch, cwd: folders.workspace });
  const child = spawn(process.execPath, ["--conditions=codexkit:source", program, given, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => {
      throw new Error("The owner ended before its turn began.");
    }),
  ])) as [string];
  return {
    ...(JSON.parse(line) as Omit<Owner, "kill">),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Waits until codex, its keeper and their files are gone. */
async function expectGone(url: string, pid: number): Promise<void> {
  const socketPath = url.slice("unix://".length);
  await expect.poll(() => runs(pid), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => existsSync(socketPath), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => existsSync(join(folders.root, "owners")), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => existsSync(dirname(socketPath)), { timeout: 20_000 }).toBe(false);
}

describe("a codex that outlives its owner", { timeout: 120_000 }, () => {
  it("survives kill -9 of its owner, and a successor attaches", async () => {
    const { url, pid, threadId, turnId, kill } = await owner(options);
    expect(url).toMatch(/^unix:\/\/\//);
    await kill();
    expect(runs(pid)).toBe(true);
    // Another launch sweeps orphans in between. This server is not one.
    await using other = await Codex.launch({ ...options, outliveOwner: { graceMs: 100 } });
    expect(other.pid).not.toBe(pid);
    await other.close();

    const successor = await Codex.connect(url);
    const thread = await successor.resumeThread(threadId);
    const turn = thread.attach(turnId);
    expect(await turn.id).toBe(turnId);
    released.open();
    expect((await turn).finalResponse).toBe("half whole");
    await successor.close();
    expect(runs(pid)).toBe(true);
    await end(pid);
    await expectGone(url, pid);
  });

  it("ends after the grace period without a client", async () => {
    const { url, pid, kill } = await owner({ ...options, outliveOwner: { graceMs: 200 } });
    expect(runs(pid)).toBe(true);
    await kill();
    await expectGone(url, pid);
  });

  it("ends with an owner that is killed before it has registered the server", async () => {
    const { url, pid, kill } = await owner(options, "unregistered");
    expect(runs(pid)).toBe(true);
    await kill();
    await expectGone(url, pid);
  });

  it("ends if it can't be registered", async () => {
    let address: OutlivingAddress | undefined;
    const register = (server: OutlivingAddress): Promise<void> => {
      address = server;
      return Promise.reject(new Error("The store is full."));
    };
    const launch = Codex.launch({ ...options, outliveOwner: { graceMs: 60_000, register } });
    await expect(launch).rejects.toThrow("The store is full.");
    await expectGone(address?.url ?? "", address?.pid ?? 0);
  });

  it("ends if onSpawn throws", async () => {
    let pid = 0;
    const onSpawn = (child: ChildProcess): void => {
      pid = child.pid ?? 0;
      throw new Error("no room");
    };
    await expect(Codex.launch({ ...options, onSpawn })).rejects.toThrow("no room");
    expect(runs(pid)).toBe(false);
  });

  it("keeps running while a client is connected, and ends after the last one", async () => {
    await using codex = await Codex.launch({ ...options, outliveOwner: { graceMs: 200 } });
    const { url = "", pid = 0 } = codex;
    const second = await Codex.connect(url);
    await codex.detach();
    // Longer than the grace period, by the server's own clock.
    await second.exec.run(["sleep", "0.5"], { cwd: folders.workspace });
    expect(runs(pid)).toBe(true);
    await second.close();
    await expectGone(url, pid);
  });

  it("ends immediately when its owner closes it, even if it is frozen", async () => {
    for (const freeze of [false, true]) {
      const codex = await Codex.launch({ ...options, processLimits: { terminateTimeoutMs: 300 } });
      const { url = "", pid = 0 } = codex;
      const thread = await codex.startThread({ cwd: folders.workspace });
      expect((await thread.run("x")).finalResponse).toBe("heard");
      if (freeze) process.kill(pid, "SIGSTOP");
      await codex.close();
      expect(runs(pid)).toBe(false);
      await expectGone(url, pid);
    }
  });

  it("is reported as crashed when it dies, and the next call starts another", async () => {
    await using codex = await Codex.launch(options);
    const { url, pid = 0 } = codex;
    const thread = await codex.startThread({ cwd: folders.workspace });
    const turn = thread.run("hold");
    for await (const event of turn) if (event.type === "item.delta") break;
    process.kill(pid, "SIGKILL");
    await expect(turn).rejects.toMatchObject({ code: "app_server_crashed" });
    expect((await thread.run("x")).finalResponse).toBe("heard");
    expect(codex.url).not.toBe(url);
    expect(codex.pid).not.toBe(pid);
  });

  it("is swept if its keeper was killed too", async () => {
    const { url, pid, kill } = await owner(options);
    const keeper = processTable().one(pid)?.parent ?? 0;
    await kill();
    process.kill(keeper, "SIGKILL");
    await expect.poll(() => runs(keeper), { timeout: 20_000 }).toBe(false);
    await using codex = await Codex.launch(options);
    expect(runs(pid)).toBe(false);
    expect(existsSync(dirname(url.slice("unix://".length)))).toBe(false);
    await codex.close();
    await expectGone(url, pid);
  });

  it("listens on the given path, even if a killed server left its socket there", async () => {
    const socketPath = join(folders.root, "mine.sock");
    for (let round = 0; round < 2; round += 1) {
      const codex = await Codex.launch({ ...options, listen: `unix://${socketPath}` });
      expect(codex.url).toBe(`unix://${socketPath}`);
      const keeper = processTable().one(codex.pid ?? 0)?.parent ?? 0;
      if (round === 0) process.kill(keeper, "SIGKILL");
      await codex.close();
    }
    expect(existsSync(socketPath)).toBe(false);
  });

  it("reports why it can't start", async () => {
    await expect(Codex.launch({ ...options, config: { approval_policy: "nonsense" } })).rejects.toMatchObject(
      {
        code: "codex_start_failed",
        message: expect.stringContaining("nonsense") as string,
      },
    );
    await expect(Codex.launch({ ...options, outliveOwner: { graceMs: 0 } })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    await expect(Codex.launch({ ...options, listen: "ws://127.0.0.1:0" })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });
});

it("keeps the folder of a starting keeper", async () => {
  const folder = createKeeperFolder();
  await mkdir(join(folder, "inside"));
  sweepKeeperFolders();
  expect(existsSync(folder)).toBe(true);
  removeKeeperFolder(folder);
});

/** Ends a server whose owner has exited, through its keeper. */
async function end(codexPid: number): Promise<void> {
  const keeper = processTable().one(codexPid)?.parent ?? 0;
  process.kill(keeper, "SIGTERM");
  await expect.poll(() => runs(keeper), { timeout: 20_000 }).toBe(false);
}

/** Whether a process is running. In a container, an ended process may stay a zombie for long. */
function runs(pid: number): boolean {
  return processTable().one(pid) !== undefined;
}
