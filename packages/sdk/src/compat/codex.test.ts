// Complete programs for the original package with only the import changed. Each must end by itself
// and leave nothing behind.
import { run } from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findCodex } from "../process/find-codex.ts";

const compat = new URL("index.ts", import.meta.url).href;

/** A program that does not end by itself is killed after this time and fails its test. */
const LIMIT_MS = 60_000;

interface Ended {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface World extends CodexFolders {
  readonly play: (program: string, ...args: string[]) => Promise<Ended>;
}

async function world(): Promise<World> {
  const folders = await codexFolders({
    model: ({ lastUserText, input }) =>
      lastUserText === "work" && !input.some(({ type }) => type === "function_call_output")
        ? run("sleep 60")
        : `heard ${lastUserText}`,
    modelName: "gpt-5.5",
    modelRetries: 0,
  });
  await mkdir(join(folders.workspace, ".git"));
  await writeFile(join(folders.workspace, ".git/HEAD"), "ref: refs/heads/main\n");
  const env = { ...folders.env, CODEX_BIN: findCodex().path, WORKSPACE: folders.workspace };
  let programs = 0;
  const play = async (program: string, ...args: string[]): Promise<Ended> => {
    programs += 1;
    const file = join(folders.root, `program-${programs}.mjs`);
    await writeFile(file, prelude.replace("@openai/codex-sdk", compat) + program);
    return new Promise((resolve) => {
      const argv = ["--conditions=codexkit:source", file, ...args];
      execFile(process.execPath, argv, { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
        resolve({ code: error ? (error.code ?? error.signal ?? null) : 0, stdout, stderr });
      });
    });
  };
  return { ...folders, play };
}

const prelude = `
import { Codex } from "@openai/codex-sdk";
const codex = new Codex();
const options = { workingDirectory: process.env.WORKSPACE, sandboxMode: "danger-full-access" };
const thread = process.argv[2] ? codex.resumeThread(process.argv[2], options) : codex.startThread(options);
`;

/** The processes started by a test's codex. Linux only. */
async function left({ codexHome }: CodexFolders): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")),
  );
  return pids.filter((_pid, index) => environments[index]?.includes(`CODEX_HOME=${codexHome}\0`));
}

describe("a program for the original", { timeout: 2 * LIMIT_MS }, () => {
  it.each([
    ["runs a turn", `console.log((await thread.run("hi")).finalResponse);`, 0, "heard hi\n"],
    [
      "runs many turns",
      `for (const n of [1, 2, 3]) console.log((await thread.run("hi " + n)).finalResponse);`,
      0,
      "heard hi 1\nheard hi 2\nheard hi 3\n",
    ],
    ["never reads its stream", `await thread.runStreamed("hi"); console.log("done");`, 0, "done\n"],
    [
      "reads one event and no more",
      `const { events } = await thread.runStreamed("hi"); console.log((await events.next()).value.type);`,
      0,
      "thread.started\n",
    ],
    [
      "stops reading in the middle of a turn",
      `const { events } = await thread.runStreamed("work");
       for await (const { type } of events) if (type === "item.started") break;
       console.log("left");`,
      0,
      "left\n",
    ],
    [
      "aborts its turn",
      `const stop = new AbortController();
       const { events } = await thread.runStreamed("work", { signal: stop.signal });
       try { for await (const { type } of events) if (type === "item.started") stop.abort(); }
       catch (error) { console.log(error.name); }`,
      0,
      "AbortError\n",
    ],
    [
      "passes a schema that can't be sent",
      `const schema = { properties: {} };
       schema.properties.self = schema;
       await thread.run("hi", { outputSchema: schema }).catch(({ name }) => console.log(name));`,
      0,
      "TypeError\n",
    ],
    ["exits", `await thread.run("hi"); console.log("done"); process.exit(3);`, 3, "done\n"],
    [
      "exits in the middle of a turn",
      `const { events } = await thread.runStreamed("work");
       for await (const { type } of events) if (type === "item.started") process.exit(4);`,
      4,
      "",
    ],
    ["throws", `await thread.run("hi"); throw new Error("boom");`, 1, ""],
  ])("that %s ends by itself and leaves nothing behind", async (_name, program, code, stdout) => {
    await using stage = await world();
    expect(await stage.play(program)).toMatchObject({ code, stdout });
    await expect.poll(() => left(stage)).toEqual([]);
  });

  it("resumes its thread in a new process, even after process.exit", async () => {
    await using stage = await world();
    const first = await stage.play(`await thread.run("one"); console.log(thread.id); process.exit(0);`);
    const id = first.stdout.trim();
    const second = await stage.play(
      `console.log((await thread.run("two")).usage.input_tokens, thread.id);`,
      id,
    );
    expect(second).toMatchObject({ code: 0, stdout: `20 ${id}\n` });
    const input = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(input).toContain("heard one");
  });

  it("continues a thread that another process has just used", async () => {
    await using stage = await world();
    const { code, stdout, stderr } = await stage.play(`
      await thread.run("one");
      if (!process.argv[3]) {
        const { execFile } = await import("node:child_process");
        const other = await new Promise((resolve) => execFile(process.execPath,
          ["--conditions=codexkit:source", process.argv[1], thread.id, "other"], (error, out, err) => resolve(out + err)));
        console.log(other.trim(), (await thread.run("three")).usage.input_tokens);
      } else console.log("other ran");
    `);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    // Three turns of ten tokens: each process saw the turns of the other.
    expect(stdout).toBe("other ran 30\n");
  });

  it("reports a machine without codex", async () => {
    await using stage = await world();
    const { code, stderr } = await stage.play(`process.env.CODEX_BIN = "/nowhere/codex"; new Codex();`);
    expect(code).toBe(1);
    expect(stderr).toContain("Unable to locate Codex CLI binaries. Ensure @openai/codex is installed");
  });
});
