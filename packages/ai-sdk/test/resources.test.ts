// Tests which threads and processes the provider keeps, on the real codex.
import { gate, say, waitFor } from "@codexkit/scripted-model";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { codexStage, type CodexStage, userPrompt, threadIdOf } from "./codex-stage.ts";
import { AI_SDK_LIMITS } from "../src/limits.ts";

const mcpServer = fileURLToPath(new URL("../../sdk/test/mcp-server.ts", import.meta.url));
const till = { command: process.execPath, args: [mcpServer], toolsApproval: "approve" } as const;

/** Counts a codex's MCP server processes. */
function serversOf({ stage }: CodexStage): number {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const processes = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []);
  return processes.filter(
    ([, , ppid, args = ""]) => Number(ppid) === stage.codex.pid && args.includes("mcp-server"),
  ).length;
}

const loaded = async ({ stage }: CodexStage): Promise<string[]> =>
  (await stage.codex.request("thread/loaded/list", {})).data;

const open = gate();
open.open();

async function call({ codex }: CodexStage): Promise<string> {
  const { providerMetadata } = await codex().doGenerate({ prompt: userPrompt("go") });
  return threadIdOf(providerMetadata);
}

describe("threads with MCP servers", () => {
  it("end their processes soon after their calls", async () => {
    await using stage = await codexStage(() => say("ok"), { mcpServers: { till }, prestartedThreads: 0 });
    for (let calls = 0; calls < 6; calls += 1) await call(stage);
    await expect.poll(() => serversOf(stage)).toBeLessThanOrEqual(AI_SDK_LIMITS.idleMcpThreads);
  });

  it("end them after an idle period, even without another call", async () => {
    await using stage = await codexStage(() => say("ok"), {
      mcpServers: { till },
      prestartedThreads: 0,
      idleThreadMs: 100,
    });
    await call(stage);
    expect(serversOf(stage)).toBe(1);
    await expect.poll(() => serversOf(stage)).toBe(0);
  });

  it("from the user's configuration are limited too, whether stored or not", async () => {
    for (const persist of [false, true]) {
      await using stage = await codexStage(() => say("ok"), {
        launchOptions: { config: { mcp_servers: { till: { command: till.command, args: [...till.args] } } } },
        prestartedThreads: 0,
        persist,
      });
      for (let calls = 0; calls < 5; calls += 1) await call(stage);
      await expect.poll(() => serversOf(stage)).toBeLessThanOrEqual(AI_SDK_LIMITS.idleMcpThreads);
    }
  });

  it("are replaced by a new thread, without a warning, once released", async () => {
    await using stage = await codexStage(({ lastUserText }) => say(`re ${lastUserText}`), {
      mcpServers: { till },
      idleThreads: 0,
    });
    const first = await stage.codex().doGenerate({ prompt: userPrompt("one") });
    const [answer] = first.content;
    if (answer?.type !== "text") throw new Error("no answer");
    const { text, providerMetadata = {} } = answer;
    const second = await stage.codex().doGenerate({
      prompt: [
        ...userPrompt("one"),
        { role: "assistant", content: [{ type: "text", text, providerOptions: providerMetadata }] },
        ...userPrompt("two"),
      ],
    });
    expect(second.warnings).toEqual([]);
    expect(JSON.stringify(stage.model.requests.at(-1)?.input)).toContain("re one");
  });
});

describe("idle threads", () => {
  it("are limited by the setting", async () => {
    await using stage = await codexStage(() => say("ok"), { idleThreads: 3, prestartedThreads: 0 });
    const ids: string[] = [];
    for (let calls = 0; calls < 6; calls += 1) ids.push(await call(stage));
    await expect.poll(() => loaded(stage)).toHaveLength(3);
    expect((await loaded(stage)).toSorted()).toEqual(ids.slice(-3).toSorted());
  });

  it("are released on a timer", async () => {
    // Longer than the delay before the search for MCP servers, which also releases idle threads.
    const idleThreadMs = AI_SDK_LIMITS.mcpLookMs + 250;
    await using stage = await codexStage(() => say("ok"), { idleThreadMs, prestartedThreads: 0 });
    await call(stage);
    await expect.poll(() => loaded(stage), { timeout: 10_000 }).toEqual([]);
  });
});

describe("threads started in advance", () => {
  it("are not used if AGENTS.md was edited", async () => {
    await using stage = await codexStage(() => say("ok"));
    const started: string[] = [];
    stage.stage.codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    await writeFile(join(stage.workspace, "AGENTS.md"), "Speak like a sailor.");
    await call(stage);
    await call(stage);
    await expect.poll(() => started.length).toBe(3);
    await writeFile(join(stage.workspace, "AGENTS.md"), "Speak like a lawyer.");
    expect(await call(stage)).not.toBe(started[2]);
    const seen = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(seen).toContain("like a lawyer");
    expect(seen).not.toContain("like a sailor");
  });

  it.each([
    [0, 7],
    [1, 8],
    [3, 9],
  ])("are limited by the setting to %i per kind of call", async (prestartedThreads, threads) => {
    let started = 0;
    const gates = [gate(), gate()];
    await using stage = await codexStage(
      ({ index }) => [waitFor(gates[Math.floor(index / 3)] ?? open), say("ok")],
      {
        prestartedThreads,
        launchOptions: { onPacket: ({ text }) => void (text.includes('"thread/start"') && (started += 1)) },
      },
    );
    for (const [burst, hold] of gates.entries()) {
      const calls = [1, 2, 3].map(() => call(stage));
      await stage.model.waitForRequests(3 * (burst + 1));
      hold.open();
      await Promise.all(calls);
    }
    // This call takes a prestarted thread, if there is one, so it waits until all have been requested.
    await call(stage);
    expect(started).toBe(threads);
  });
});
