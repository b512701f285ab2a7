// What the real codex leaves behind when it or its owner is killed, and that all of it is cleaned up.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClientWire } from "@codexkit/protocol";
import { Peer } from "@codexkit/rpc";
import { codexConfig, run, ScriptedModel, withoutModelVariables } from "@codexkit/scripted-model";
import { initializePeer, tempFolder } from "@codexkit/testing";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { launchAppServer, type LaunchAppServerOptions, type LaunchedAppServer } from "./launch-app-server.ts";
import { killOwned } from "./end-owned.ts";
import { type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";
import { sweepOrphans } from "./sweep-orphans.ts";

/** An MCP server that ignores the end of its stdin. */
const MCP_SERVER = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
writeFileSync(process.argv[2], String(process.pid));
setInterval(() => {}, 1000);
process.on("SIGTERM", () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "deaf", version: "1" } }
    : { tools: [{ name: "nothing", inputSchema: { type: "object" } }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
}`;

let folder: string;
let pidFolder: string;
let options: LaunchAppServerOptions & { readonly ownersFolder: string };

beforeEach(async () => {
  const temp = await tempFolder("dead-owner");
  onTestFinished(() => temp[Symbol.asyncDispose]());
  folder = temp.path;
  pidFolder = join(folder, "pids");
  for (const name of ["pids", "temp", "workspace", "home"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "mcp.mjs"), MCP_SERVER);

  // Each command writes its pid: one waits, one has a terminal, and three detach from codex.
  const command = (name: string, before = ""): string =>
    `${before} sh -c 'echo $$ > ${pidFolder}/${name}; exec sleep 600'`;
  // Codex kills the group of an ended command, so the detaching commands need a moment.
  const detached = (name: string, launch: string): string =>
    `${launch}; until [ -s ${pidFolder}/${name} ]; do sleep 0.02; done`;
  const model = await ScriptedModel.start((request) =>
    request.newOutputs.length === 0
      ? [
          run(command("session"), { yieldMs: 250 }),
          run(command("terminal"), { yieldMs: 250, tty: true }),
          run(detached("setsid", `{ ${command("setsid", "setsid")} > /dev/null 2>&1 & }`)),
          run(detached("job", `set -m; { ${command("job")} > /dev/null 2>&1 & }`)),
          run(detached("double", `(${command("double", "setsid")} > /dev/null 2>&1 &)`)),
        ]
      : run(command("last"), { yieldMs: 30_000 }),
  );
  onTestFinished(() => model.close());
  options = {
    codexHome: join(folder, "home", "codex"),
    cwd: join(folder, "workspace"),
    ownersFolder: join(folder, "owners"),
    inheritEnv: false,
    env: { ...withoutModelVariables(process.env), HOME: join(folder, "home"), TMPDIR: join(folder, "temp") },
    config: {
      mcp_servers: {
        deaf: { command: process.execPath, args: [join(folder, "mcp.mjs"), join(pidFolder, "mcp")] },
      },
    },
    configOverrides: codexConfig(model, { model: "mock-model", retries: 0 }).overrides,
  };
});

const NAMES = ["double", "job", "last", "mcp", "session", "setsid", "terminal"];

/** The pids of all processes started by codex, once all exist. */
async function descendants(): Promise<number[]> {
  await expect
    .poll(() => readdir(pidFolder).then((names) => names.toSorted()), { timeout: 20_000 })
    .toEqual(NAMES);
  const read = async (name: string): Promise<number> => Number(await readFile(join(pidFolder, name), "utf8"));
  await expect.poll(async () => (await Promise.all(NAMES.map(read))).every((pid) => pid > 1)).toBe(true);
  const pids = await Promise.all(NAMES.map(read));
  onTestFinished(() => {
    for (const pid of pids) if (runs(pid)) process.kill(pid, "SIGKILL");
  });
  return pids;
}

const runs = (pid: number): boolean => processTable().one(pid) !== undefined;

/** Starts the turn whose commands never end. */
async function beginTurn(
  peer: Peer<ClientWire>,
  sandbox: "danger-full-access" | "workspace-write",
): Promise<void> {
  await initializePeer(peer);
  const { thread } = await peer.request("thread/start", {
    cwd: options.cwd ?? "",
    ephemeral: true,
    sandbox,
    approvalPolicy: "never",
  });
  await peer.request("turn/start", {
    threadId: thread.id,
    input: [{ type: "text", text: "go", text_elements: [] }],
  });
}

/** The same in a separate program, to be killed. Returns the pid of its codex. */
async function ownerProgram(): Promise<{ owner: ChildProcess; codex: number }> {
  const program = `
    import { Peer } from "@codexkit/rpc";
    import { launchAppServer } from ${JSON.stringify(join(import.meta.dirname, "launch-app-server.ts"))};
    const options = ${JSON.stringify(options)};
    const server = await launchAppServer(options);
    const peer = new Peer(server.transport);
    await peer.request("initialize", { clientInfo: { name: "owner", title: null, version: "1" } });
    const { thread } = await peer.request("thread/start", { cwd: options.cwd, ephemeral: true, sandbox: "danger-full-access", approvalPolicy: "never" });
    await peer.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "go", text_elements: [] }] });
    console.log(server.process.pid);`;
  const owner = spawn(
    process.execPath,
    ["--conditions=codexkit:source", "--input-type=module", "-e", program],
    {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(() => void owner.kill("SIGKILL"));
  const [line] = (await once(owner.stdout, "data")) as [Buffer];
  return { owner, codex: Number(line.toString()) };
}

async function kill9(owner: ChildProcess): Promise<void> {
  owner.kill("SIGKILL");
  await once(owner, "exit");
}

describe("a search that finds nothing to kill", () => {
  const claim = { mark: "m", leader: undefined, isPidReserved: false };
  const idle: ProcessTable = {
    all: () => [{ pid: 2, parent: 1, group: 2, session: 2, start: "s", startOrder: 1 }],
    since: () => [],
    one: () => undefined,
    marked: () => [],
    namespace: () => "",
    forks: () => ({ made: 7, pids: 99 }),
  };

  it("is certain if every process could be read and none was created meanwhile", () => {
    expect(killOwned(claim, idle)).toEqual({ killed: 0, isCertain: true });
  });

  it.each<[string, Partial<ProcessTable>]>([
    ["a process is in exec", { marked: (_mark, _among, onUnreadable) => (onUnreadable?.(2), []) }],
    ["a process was created meanwhile", { forks: countUp() }],
    ["the system does not count its processes", { forks: () => undefined }],
  ])("is not certain if %s", (_what, part) => {
    expect(killOwned(claim, { ...idle, ...part })).toEqual({ killed: 0, isCertain: false });
  });

  const bounded = {
    ...claim,
    leader: { pid: 100, start: "s", startOrder: 1 },
    isPidReserved: true,
    forks: 0,
  };

  it("is certain despite new processes if none ended before it was read", () => {
    const busy = { ...idle, forks: countUp() };
    expect(killOwned(bounded, busy).isCertain).toBe(true);
    const since: ProcessTable["since"] = (_first, _forks, { onGone } = {}) => (onGone?.(), []);
    expect(killOwned(bounded, { ...busy, since }).isCertain).toBe(false);
  });

  it("does not reread processes that can't belong to the claim", () => {
    const make = (pid: number, parent: number): ProcessEntry => ({
      pid,
      parent,
      group: pid,
      session: pid,
      start: "s",
      startOrder: 1,
    });
    // 300 can't be read yet, and the creator of 500 has ended.
    const table = [make(200, 1), make(201, 200), make(300, 1), make(301, 300), make(500, 400)];
    const unrelated = new Set<number>();
    killOwned(
      bounded,
      {
        ...idle,
        since: () => table,
        marked: (_mark, _among, onUnreadable) => (onUnreadable?.(300), []),
      },
      unrelated,
    );
    expect([...unrelated]).toEqual([200, 201]);
  });

  function countUp(): () => { made: number; pids: number } {
    let made = 7;
    return () => ({ made: made++, pids: 99 });
  }
});

describe("kill -9 of an owner with a running turn", () => {
  it("leaves detached processes, which the next start sweeps", async () => {
    const { owner, codex } = await ownerProgram();
    const pids = await descendants();
    await kill9(owner);
    // Codex exits when its stdin ends, with its remaining children.
    await expect.poll(() => runs(codex), { timeout: 10_000 }).toBe(false);
    expect(pids.filter(runs).length).toBeGreaterThan(0);

    await using next = await launchAppServer(options);
    expect(next.warnings).toEqual([]);
    expect(pids.filter(runs)).toEqual([]);
    expect(await readdir(options.ownersFolder)).toHaveLength(1);
  });

  it("and of its codex also leaves MCP servers, which a sweep ends", async () => {
    const { owner, codex } = await ownerProgram();
    const pids = await descendants();
    // A stopped codex can't exit by itself, so it must be found running.
    process.kill(codex, "SIGSTOP");
    await kill9(owner);
    process.kill(codex, "SIGKILL");
    await expect.poll(() => runs(codex)).toBe(false);
    const mcp = pids[NAMES.indexOf("mcp")] ?? 0;
    expect(runs(mcp)).toBe(true);
    const report = await sweepOrphans(options.ownersFolder);
    expect(report.problems).toEqual([]);
    expect(report.killed).toContain(mcp);
    expect(pids.filter(runs)).toEqual([]);
  });

  it("leaves a hanging codex, which a sweep ends with all its descendants", async () => {
    const { owner, codex } = await ownerProgram();
    const pids = await descendants();
    process.kill(codex, "SIGSTOP");
    await kill9(owner);
    const report = await sweepOrphans(options.ownersFolder);
    expect(report).toMatchObject({ problems: [], removed: [expect.any(String)] });
    expect([codex, ...pids].filter(runs)).toEqual([]);
  });
});

describe.each(["danger-full-access", "workspace-write"] as const)("a turn that runs under %s", (sandbox) => {
  /** A server with all its commands running, and a function that lists the survivors. */
  async function running(): Promise<{ server: LaunchedAppServer; left: () => number[] }> {
    const server = await launchAppServer(options);
    onTestFinished(() => server.dispose());
    const peer = new Peer<ClientWire>(server.transport);
    onTestFinished(() => peer.close());
    await beginTurn(peer, sandbox);
    const mark = (await readdir(options.ownersFolder))[0]?.replace(".json", "") ?? "";
    const table = processTable();
    const marked = (): number[] => table.marked(mark, table.all()).map(({ pid }) => pid);
    // The sandbox has its own pid namespace, so only the marks identify its processes.
    const pids = sandbox === "workspace-write" ? [] : await descendants();
    await expect.poll(() => marked().length, { timeout: 20_000 }).toBeGreaterThan(3);
    return { server, left: () => [...pids.filter(runs), ...marked()] };
  }

  it("leaves nothing if only its codex is killed, because the owner cleans up", async () => {
    const { server, left } = await running();
    process.kill(server.process.pid ?? 0, "SIGKILL");
    await server.process.ended;
    await expect.poll(left).toEqual([]);
  });

  it("leaves nothing when it is stopped", async () => {
    const { server, left } = await running();
    await server.dispose();
    expect(left()).toEqual([]);
  });
});

describe("a strict environment policy", () => {
  it("does not remove the mark from commands", async () => {
    options = { ...options, config: { ...options.config, shell_environment_policy: { inherit: "core" } } };
    const { owner, codex } = await ownerProgram();
    const pids = await descendants();
    await kill9(owner);
    await expect.poll(() => runs(codex), { timeout: 10_000 }).toBe(false);
    expect(pids.some(runs)).toBe(true);
    expect((await sweepOrphans(options.ownersFolder)).problems).toEqual([]);
    expect(pids.filter(runs)).toEqual([]);
  });
});
