// A codex that is frozen (SIGSTOP) answers nothing. Limits alone reveal it, so they are short here.
import { run } from "@codexkit/scripted-model";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { poolStage } from "../../test/compat/pool-stage.ts";
import { Codex } from "./index.ts";

vi.mock(import("./limits.ts"), async (importOriginal) => {
  const { COMPAT_LIMITS } = await importOriginal();
  return { COMPAT_LIMITS: { ...COMPAT_LIMITS, callTimeoutMs: 4_000, stopTimeoutMs: 500 } };
});

describe.skipIf(process.platform !== "linux")("a frozen codex", { timeout: 120_000 }, () => {
  it("is killed when a turn is aborted, and the next turn gets another one", async () => {
    await using at = await poolStage(({ lastUserText }) =>
      lastUserText === "freeze" ? run("echo $PPID > parent; kill -STOP $PPID; sleep 60") : "ok",
    );
    const thread = new Codex(at.options).startThread(at.thread);
    const stop = new AbortController();
    const frozen = thread.run("freeze", { signal: stop.signal }).catch((error: unknown) => error);
    const stateOf = async (): Promise<string> => {
      const pid = await readFile(join(at.workspace, "parent"), "utf8").catch(() => "none");
      return readFile(`/proc/${pid.trim()}/stat`, "utf8").catch(() => "");
    };
    try {
      await expect.poll(stateOf, { timeout: 15_000 }).toContain("(codex) T ");
    } finally {
      stop.abort();
    }
    expect(await frozen).toMatchObject({ name: "AbortError" });
    expect((await thread.run("and now?")).finalResponse).toBe("ok");
    expect(await stateOf()).toBe("");
  });

  it("is killed without a turn, and the next turn gets another one", async () => {
    await using at = await poolStage(({ lastUserText }) => `heard: ${lastUserText}`);
    const codex = new Codex(at.options);
    await codex.startThread(at.thread).run("hi");
    const [frozen] = await at.processes();
    process.kill(frozen ?? 0, "SIGSTOP");
    const turns = ["one", "two"].map((text) => codex.startThread(at.thread).run(text));
    const ended = await Promise.all(turns);
    expect(ended.map(({ finalResponse }) => finalResponse)).toEqual(["heard: one", "heard: two"]);
    expect(await at.processes()).not.toContain(frozen);
  });
});
