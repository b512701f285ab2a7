import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { OwnedProcess } from "./owned-process.ts";
import { type OwnerManifest, writeManifest } from "./owner-manifest.ts";
import { newMark } from "./owner-mark.ts";
import { processTable } from "./process-table.ts";
import { readManifest } from "./read-manifest.ts";
import { sweepOrphans } from "./sweep-orphans.ts";

const system = processTable();
const runs = (pid: number): boolean => system.one(pid) !== undefined;

/** A process that the sweep must treat as exited, because no process has this start time. */
const deadOwner = { pid: process.pid, start: "another life", startOrder: 0 };

function manifest(more: Partial<OwnerManifest> = {}): OwnerManifest {
  return {
    version: 1,
    mark: newMark(),
    namespace: system.namespace(),
    owner: deadOwner,
    forks: system.forks()?.made,
    ...more,
  };
}

/** A shell without an owner, and the pids that it prints. */
async function strangers(
  script: string,
  count: number,
  mark?: string,
): Promise<{ shell: OwnedProcess; pids: number[] }> {
  const shell = new OwnedProcess({ command: "/bin/sh", args: ["-c", script], ...(mark && { mark }) });
  onTestFinished(() => shell.stop("SIGKILL"));
  let text = "";
  shell.child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text.split("\n").length).toBeGreaterThan(count);
  return { shell, pids: text.trim().split("\n").map(Number) };
}

/** An owner in a separate process, which writes its manifests to a folder and prints its child's pids. */
async function owner(
  folder: string,
  script: string,
  count: number,
): Promise<{ owner: ChildProcess; pids: number[] }> {
  const here = (file: string): string => JSON.stringify(join(import.meta.dirname, file));
  const program = `
    import { OwnedProcess } from ${here("owned-process.ts")};
    import { ManifestFile } from ${here("owner-manifest.ts")};
    import { newMark } from ${here("owner-mark.ts")};
    const mark = newMark();
    const manifest = new ManifestFile(${JSON.stringify(folder)}, mark);
    const child = new OwnedProcess({ command: "/bin/sh", args: ["-c", ${JSON.stringify(script)}], mark, manifest });
    child.child.stdout.pipe(process.stdout);`;
  // Not an OwnedProcess, which would clean up after it.
  const started = spawn(
    process.execPath,
    ["--conditions=codexkit:source", "--input-type=module", "-e", program],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let text = "";
  started.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text.split("\n").length).toBeGreaterThan(count);
  const pids = text.trim().split("\n").map(Number);
  onTestFinished(() => {
    for (const pid of [started.pid ?? 0, ...pids]) if (runs(pid)) process.kill(pid, "SIGKILL");
  });
  return { owner: started, pids };
}

async function kill9(owners: readonly ChildProcess[]): Promise<void> {
  const gone = owners.map((one) => once(one, "exit"));
  for (const one of owners) one.kill("SIGKILL");
  await Promise.all(gone);
}

describe("a sweep", () => {
  it("does nothing without a folder", async () => {
    await using temp = await tempFolder();
    expect(await sweepOrphans(join(temp.path, "none"))).toEqual({ killed: [], removed: [], problems: [] });
    expect(await readdir(temp.path)).toEqual([]);
  });

  it("keeps the children of a running owner", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const living = await owner(folder, "echo $$; sleep 600 & echo $!; wait", 2);
    expect(await sweepOrphans(folder)).toEqual({ killed: [], removed: [], problems: [] });
    expect(living.pids.every(runs)).toBe(true);
  });

  it("removes invalid files, and temporary files once they are old", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    await mkdir(folder, { mode: 0o700 });
    const file = (name: string): string => join(folder, name);
    await writeFile(file("bad.json"), "{ not json");
    await mkdir(file("folder.json"));
    await writeFile(file("new.tmp"), "");
    await writeFile(file("old.tmp"), "");
    await utimes(file("old.tmp"), 0, 0);
    const { removed, problems } = await sweepOrphans(folder);
    expect(removed.toSorted()).toEqual(["bad.json", "folder.json", "old.tmp"].map(file));
    expect(problems).toEqual([]);
    expect(await readdir(folder)).toEqual(["new.tmp"]);
  });

  it("reports an untrusted folder and changes nothing", async () => {
    await using temp = await tempFolder();
    await writeFile(join(temp.path, "file"), "");
    const report = await sweepOrphans(join(temp.path, "file"));
    expect(report).toEqual({ killed: [], removed: [], problems: [expect.stringContaining("not a folder")] });
  });

  it("removes the manifest if owner and child have exited", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    writeManifest(folder, manifest({ child: { pid: 4_000_000, start: "x", startOrder: 0 } }));
    const { removed, killed } = await sweepOrphans(folder);
    expect([removed.length, killed]).toEqual([1, []]);
    expect(existsSync(folder)).toBe(false);
  });

  it("removes manifests of an earlier boot, but not those of another container", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const { shell } = await strangers("echo $$; sleep 600", 1);
    const child = system.one(shell.pid ?? 0);
    const [boot] = system.namespace().split(" ");
    const elsewhere = manifest({ namespace: `${boot} pid:[1]`, ...(child && { child }) });
    writeManifest(folder, elsewhere);
    writeManifest(folder, manifest({ namespace: "old-boot pid:[1]", ...(child && { child }) }));
    expect((await sweepOrphans(folder)).killed).toEqual([]);
    expect(await readdir(folder)).toEqual([`${elsewhere.mark}.json`]);
    expect(runs(shell.pid ?? 0)).toBe(true);
  });
});

describe("a reused pid", () => {
  it("is not killed if it was the child's", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const { shell, pids } = await strangers("echo $$; sleep 600 & echo $!; wait", 2);
    writeManifest(folder, manifest({ child: { pid: shell.pid ?? 0, start: "another life", startOrder: 0 } }));
    const report = await sweepOrphans(folder);
    expect(report).toMatchObject({ killed: [], removed: [expect.any(String)], problems: [] });
    expect(pids.every(runs)).toBe(true);
  });

  it("protects a session that may belong to another process", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    // A session without its leader: `setsid` creates it, then its shell exits.
    const { pids } = await strangers("setsid sh -c 'echo $$; sleep 600 & echo $!'; wait; sleep 600", 2);
    const [leader = 0, member = 0] = pids;
    await expect.poll(() => runs(leader)).toBe(false);
    const { startOrder = 0 } = system.one(member) ?? {};
    const child = { pid: leader, start: "long ago", startOrder: startOrder - 1 };
    // So many processes later that pids were reused.
    writeManifest(folder, manifest({ child, forks: -10_000_000 }));
    expect((await sweepOrphans(folder)).killed).toEqual([]);
    expect(runs(member)).toBe(true);
    // If the pid can't have been reused since, it is an orphan.
    writeManifest(folder, manifest({ child }));
    expect((await sweepOrphans(folder)).killed).toEqual([member]);
    await expect.poll(() => runs(member)).toBe(false);
  });

  it("does not count as the owner", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const mark = newMark();
    const { shell } = await strangers("echo $$; sleep 600", 1, mark);
    // Without a child: the owner was killed during the spawn.
    writeManifest(folder, manifest({ mark }));
    const report = await sweepOrphans(folder);
    expect(report.killed).toContain(shell.pid);
    await expect(shell.ended).resolves.toMatchObject({ signal: "SIGTERM" });
  });
});

describe("after kill -9 of an owner", () => {
  const script =
    "echo $$; trap '' TERM; (trap '' TERM; sleep 600) & echo $!; set -m; sleep 601 & echo $!; set +m; setsid sleep 602 & echo $!; wait";

  it("ends the child, its groups, its session and marked processes, even those that ignore SIGTERM", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const dead = await owner(folder, script, 4);
    await kill9([dead.owner]);
    expect(dead.pids.every(runs)).toBe(true);
    const report = await sweepOrphans(folder);
    expect(report.killed).toEqual(expect.arrayContaining(dead.pids));
    expect(dead.pids.filter(runs)).toEqual([]);
    expect(report.problems).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it("ends the group of an exited leader", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const dead = await owner(folder, script, 4);
    const [leader = 0, ...rest] = dead.pids;
    // The owner first, because it would otherwise clean up after its child.
    await kill9([dead.owner]);
    process.kill(leader, "SIGKILL");
    await expect.poll(() => runs(leader)).toBe(false);
    expect(rest.every(runs)).toBe(true);
    await sweepOrphans(folder);
    expect(rest.filter(runs)).toEqual([]);
  });

  it("can run concurrently", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const [one, two] = await Promise.all([owner(folder, script, 4), owner(folder, script, 4)]);
    const living = await owner(folder, "echo $$; exec sleep 600", 1);
    await kill9([one.owner, two.owner]);
    const reports = await Promise.all(Array.from({ length: 5 }, () => sweepOrphans(folder)));
    expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
    expect([...one.pids, ...two.pids].filter(runs)).toEqual([]);
    expect(living.pids.every(runs)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("never kills the sweeping process or its ancestors", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const mark = newMark();
    writeManifest(folder, manifest({ mark }));
    const program = `
      import { sweepOrphans } from ${JSON.stringify(join(import.meta.dirname, "sweep-orphans.ts"))};
      console.log(JSON.stringify(await sweepOrphans(${JSON.stringify(folder)})));`;
    const sweeper = new OwnedProcess({
      command: "/bin/sh",
      args: [
        "-c",
        '"$0" --conditions=codexkit:source --input-type=module -e "$1"; exit 7',
        process.execPath,
        program,
      ],
      mark,
    });
    let text = "";
    sweeper.child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    expect(await sweeper.ended).toEqual({ code: 7, signal: null });
    expect(JSON.parse(text)).toMatchObject({ killed: [], problems: [] });
  });

  it("finds the child of an owner that was killed before it recorded the pid", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    const dead = await owner(folder, "echo $$; exec sleep 600", 1);
    const [name = ""] = await readdir(folder);
    const written = readManifest(join(folder, name));
    if (typeof written !== "object") throw new Error("no manifest");
    const { child, ...without } = written;
    await kill9([dead.owner]);
    writeManifest(folder, without);
    await sweepOrphans(folder);
    expect(child?.pid).toBe(dead.pids[0]);
    expect(dead.pids.filter(runs)).toEqual([]);
  });
});
