import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { launchTiny } from "../../test/tiny-agent.ts";
import type { AcpProvider } from "./acp-provider.ts";

const cwd = process.cwd();

describe("a session that an ACP agent does not load", () => {
  const unknown = "0f0e0d0c-0000-4000-8000-000000000000";

  it.each([
    ["uses the error code for it", undefined, /has no session.*Resource not found/],
    ["uses another code, and does not list it", "--lists", /has no session.*no such file/],
    ["uses another code, and mentions the id", "--breaks-on-load", /has no session.*no file for 0f0e0d0c/],
  ])("is not found: the agent %s", async (_, fault, message) => {
    await using home = await tempFolder("acp");
    await using provider = await launchTiny({
      env: { ACP_TEST_HOME: home.path },
      ...(fault === undefined ? {} : { fault }),
    });
    await expect(provider.resume(unknown, { prompt: "x", cwd })).rejects.toMatchObject({
      code: "session_not_found",
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ["had it just before", "--lists", /could not open the session.*no such file/],
    ["does not mention the id", "--breaks-on-load", /could not open the session.*disk is full/],
  ])("exists but can't be opened: the agent %s", async (_, fault, message) => {
    await using home = await tempFolder("acp");
    const env = { ACP_TEST_HOME: home.path };
    await using provider = await launchTiny({ env, fault, limits: { reopenMs: 50 } });
    const { sessionId, events } = await provider.spawn({ prompt: "say x", cwd });
    await Array.fromAsync(events);
    await expect(provider.resume(sessionId, { prompt: "x", cwd })).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringMatching(message),
    });
  });
});

describe("a session that was stopped before its first output", () => {
  it.each([
    ["stores it with its first output", "--stores-late"],
    ["refuses to load an open session", "--one-writer"],
  ])("can be resumed if the agent %s", async (_, fault) => {
    await using home = await tempFolder("acp");
    await using provider = await launchTiny({ env: { ACP_TEST_HOME: home.path }, fault });
    const stopped = await provider.spawn({ prompt: "silent", cwd });
    await stopped.stop();
    const resumed = await provider.resume(stopped.sessionId, { prompt: "say hello", cwd });
    const last = (await Array.fromAsync(resumed.events)).at(-1);
    expect(last).toMatchObject({ kind: "result", success: true, message: "hello" });
  });

  it("is closed once more sessions than the limit are open", async () => {
    await using home = await tempFolder("acp");
    const limits = { unstoredSessions: 1, reopenMs: 1 };
    await using provider = await launchTiny({
      env: { ACP_TEST_HOME: home.path },
      fault: "--stores-late",
      limits,
    });
    const [first, second] = [await silent(provider), await silent(provider)];
    const spec = { prompt: "say hello", cwd };
    await expect(provider.resume(first, spec)).rejects.toMatchObject({ code: "session_not_found" });
    await expect(provider.resume(second, spec)).resolves.toMatchObject({ sessionId: second });
  });

  async function silent(provider: AcpProvider): Promise<string> {
    const handle = await provider.spawn({ prompt: "silent", cwd });
    await handle.stop();
    return handle.sessionId;
  }
});

it("a session that the agent lists but can't load is not reported as unknown", async () => {
  await using home = await tempFolder("acp");
  const env = { ACP_TEST_HOME: home.path };
  await writeFile(join(home.path, "listed"), "say x");
  await using provider = await launchTiny({ env, fault: "--lists" });
  await expect(provider.resume("listed", { prompt: "x", cwd })).rejects.toMatchObject({
    code: "spawn_failed",
  });
});
