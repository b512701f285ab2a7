// The number and lifetime of the codex processes behind the objects.
import { gate, run, say, waitFor } from "@codexkit/scripted-model";
import { repetitions } from "@codexkit/testing";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { poolStage } from "../../test/compat/pool-stage.ts";
import { Codex } from "./index.ts";
import { COMPAT_LIMITS } from "./limits.ts";

describe.skipIf(process.platform !== "linux")("codex processes", () => {
  it("are at most the cap after 12 turns with 12 environments", async () => {
    await using at = await poolStage(() => "ok");
    for (let index = 0; index < 12; index += 1) {
      const env = { ...at.options.env, NUMBER: String(index) };
      await new Codex({ ...at.options, env }).startThread(at.thread).run("hi");
    }
    await expect.poll(() => at.processes(), { timeout: 10_000 }).toHaveLength(COMPAT_LIMITS.idleServers);
  }, 120_000);

  it("are shared by 24 concurrent threads without a warning by Node", async () => {
    await using at = await poolStage(({ lastUserText }) => `heard ${lastUserText}`);
    const seen: Error[] = [];
    const onWarning = (warning: Error): void => void seen.push(warning);
    process.on("warning", onWarning);
    const codex = new Codex(at.options);
    const turns = Array.from({ length: 24 }, (_, index) => codex.startThread(at.thread).run(String(index)));
    const answers = (await Promise.all(turns)).map(({ finalResponse }) => finalResponse);
    expect(await at.processes()).toHaveLength(1);
    process.off("warning", onWarning);
    expect(answers).toEqual(Array.from({ length: 24 }, (_, index) => `heard ${index}`));
    expect(seen).toEqual([]);
  }, 120_000);

  it("are the most recently used ones", async () => {
    await using at = await poolStage(({ input, lastUserText }) =>
      input.at(-1)?.type === "function_call_output" ? "done" : run(`echo ${lastUserText} $PPID`),
    );
    const parentOf = async (NUMBER: string): Promise<string> => {
      const codex = new Codex({ ...at.options, env: { ...at.options.env, NUMBER } });
      const { items } = await codex.startThread(at.thread).run(NUMBER);
      const command = items.find(({ type }) => type === "command_execution");
      return command?.type === "command_execution" ? command.aggregated_output : "";
    };
    const first = await parentOf("a");
    for (let index = 1; index < COMPAT_LIMITS.idleServers; index += 1) await parentOf(String(index));
    expect(await parentOf("a")).toBe(first);
    await parentOf("one more");
    expect(await parentOf("a")).toBe(first);
  }, 120_000);

  it("exceed the cap while their turns are running", async () => {
    const [go, count] = [gate(), COMPAT_LIMITS.idleServers + 2];
    await using at = await poolStage(({ lastUserText }) =>
      lastUserText === "wait" ? [say(["a", waitFor(go), "b"])] : "ok",
    );
    // The first one sets up the home.
    await new Codex(at.options).startThread(at.thread).run("hi");
    const turns = Array.from({ length: count }, (_, index) => {
      const env = { ...at.options.env, NUMBER: String(index) };
      return new Codex({ ...at.options, env }).startThread(at.thread).run("wait");
    });
    await at.model.waitForRequests(count + 1);
    go.open();
    const ended = await Promise.all(turns);
    expect(ended.map(({ finalResponse }) => finalResponse)).toEqual(Array(count).fill("ab"));
    await expect.poll(() => at.processes(), { timeout: 10_000 }).toHaveLength(COMPAT_LIMITS.idleServers);
  }, 120_000);

  it("end with `close`", async () => {
    await using at = await poolStage(() => "ok");
    {
      await using codex = new Codex(at.options);
      await codex.startThread(at.thread).run("hi");
      expect(await at.processes()).toHaveLength(1);
    }
    expect(await at.processes()).toEqual([]);
  });
});

describe("`close`", () => {
  it("aborts running turns and rejects new ones", async () => {
    const never = gate();
    await using at = await poolStage([[say(["a", waitFor(never), "b"])]]);
    const codex = new Codex(at.options);
    const thread = codex.startThread(at.thread);
    const aborted = thread.run("hi").catch((error: unknown) => error);
    await at.model.waitForRequests(1);
    await codex.close();
    expect(await aborted).toMatchObject({ name: "AbortError", cause: { code: "closed" } });
    await expect(thread.run("more")).rejects.toMatchObject({ code: "closed" });
    await codex.close();
  });

  it("ends a turn whose stream is no longer read", async () => {
    const never = gate();
    await using at = await poolStage([[say(["a", waitFor(never), "b"])]]);
    const codex = new Codex(at.options);
    const { events } = await codex.startThread(at.thread).runStreamed("hi");
    expect(await events.next()).toMatchObject({ value: { type: "thread.started" } });
    await codex.close();
    await expect(events.next()).rejects.toMatchObject({ name: "AbortError" });
  });

  it("does not affect the turns of another object", async () => {
    const go = gate();
    await using at = await poolStage(({ lastUserText }) =>
      lastUserText === "wait" ? [say(["a", waitFor(go), "b"])] : "ok",
    );
    const [one, other] = [new Codex(at.options), new Codex(at.options)];
    await one.startThread(at.thread).run("hi");
    const turn = other.startThread(at.thread).run("wait");
    await at.model.waitForRequests(2);
    await one.close();
    go.open();
    expect((await turn).finalResponse).toBe("ab");
    await other.close();
  });
});

describe("a new process", () => {
  it("reports all warnings about its configuration", async () => {
    await using at = await poolStage(() => "ok");
    await appendFile(join(at.codexHome, "config.toml"), "no_such_setting = 1\n");
    const counts: number[] = [];
    const processes = repetitions({ test: 6, soak: 40 });
    for (let index = 0; index < processes; index += 1) {
      await using codex = new Codex(at.options);
      const { items } = await codex.startThread(at.thread).run("hi");
      counts.push(items.filter(({ type }) => type === "error").length);
    }
    // One from the handshake, and one from the thread.
    expect(counts).toEqual(Array(processes).fill(2));
  }, 300_000);
});
