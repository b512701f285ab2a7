import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastEventOf, runSession, startSession, textOf } from "../../test/acp-session.ts";
import { launchTiny, tinyAgent } from "../../test/tiny-agent.ts";
import { AcpProvider, type AcpProviderOptions } from "./acp-provider.ts";
import type { AcpCommand } from "./process/start-process.ts";

const cwd = process.cwd();

/** A zombie is not alive: its parent has not reaped it yet. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" });
  return /^[^Z\s]/.test(stdout);
}

/** Most tests share one agent: it serves any number of sessions. */
let shared: AcpProvider;
beforeAll(async () => {
  shared = await launchTiny({ name: "tiny", supportsReasoningEffort: true });
});
afterAll(() => shared.shutdown());

describe("an ACP agent that misbehaves", () => {
  it.each<[string, AcpCommand & Pick<AcpProviderOptions, "limits">, RegExp]>([
    ["is missing", { command: "codexkit-no-such-agent" }, /ENOENT/],
    ["exits immediately", tinyAgent("--exits"), /exited with code 3.*\n.*no licence/],
    [
      "never answers",
      { ...tinyAgent("--silent"), limits: { initializeMs: 300 } },
      /initialize did not arrive within 300 ms/,
    ],
    ["speaks another version", tinyAgent("--future"), /version 99 of ACP/],
    ["speaks something else", { command: process.execPath, args: ["-e", "console.log('hello')"] }, /exited/],
  ])("is not launched: it %s", async (_, command, message) => {
    await expect(AcpProvider.launch(command)).rejects.toMatchObject({
      code: "provider_unavailable",
      message: expect.stringMatching(message),
    });
  });

  it("crashes during a session: every session ends with its last stderr output, and the next starts a new process", async () => {
    await using provider = await launchTiny();
    const { pid } = provider;
    const works = await startSession(provider);
    const crashing = await startSession(provider, "die");
    const crash = {
      kind: "error",
      code: "app_server_crashed",
      message: expect.stringContaining("out of memory"),
    };
    expect(await lastEventOf(crashing)).toMatchObject(crash);
    expect(await lastEventOf(works)).toMatchObject(crash);
    expect(textOf(await runSession(provider, { prompt: "say hello again" }))).toBe("hello again");
    expect(provider.pid).not.toBe(pid);
  });

  it("prints garbage: its messages are still read", async () => {
    expect(textOf(await runSession(shared, { prompt: "garbage" }))).toBe("Sorry about that.");
  });

  it("sends unknown updates and requests: it receives an error, and the runner an event", async () => {
    const events = await runSession(shared, { prompt: "strange" });
    expect(textOf(events)).toBe("No files for me.");
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "system", subtype: "from_the_future", raw: expect.anything() }),
    );
    expect(events).toContainEqual(expect.objectContaining({ subtype: "unhandled_server_request" }));
  });

  it("does not open a session in time: only that session fails", async () => {
    await using provider = await launchTiny({ fault: "--no-sessions", limits: { sessionMs: 50 } });
    await expect(startSession(provider)).rejects.toMatchObject({ code: "spawn_failed" });
  });

  it("opens a session too late: the session is closed", async () => {
    const closed = Promise.withResolvers<string>();
    await using provider = await launchTiny({
      fault: "--late-session",
      limits: { sessionMs: 500 },
      onStderr: (line) => closed.resolve(line),
    });
    await expect(startSession(provider)).rejects.toMatchObject({ code: "spawn_failed" });
    await runSession(provider, {});
    expect(await closed.promise).toBe("closed the late session");
  });

  it("crashes while a session is being opened: the call fails with its last output, and so does the next, on a new process", async () => {
    await using provider = await launchTiny({ fault: "--dies-early" });
    const failure = { code: "spawn_failed", message: expect.stringContaining("no room for a session") };
    await expect(startSession(provider)).rejects.toMatchObject(failure);
    await expect(startSession(provider)).rejects.toMatchObject(failure);
  });

  it("crashes with open and opening sessions: no stream is left open", async () => {
    await using provider = await launchTiny();
    const { pid = 0 } = provider;
    const handles = await Promise.all(Array.from({ length: 5 }, () => startSession(provider)));
    const opening = Array.from({ length: 5 }, () => startSession(provider));
    process.kill(pid, "SIGKILL");
    const opened = await Promise.allSettled(opening);
    const ends = await Promise.all(
      [...handles, ...opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))].map(
        lastEventOf,
      ),
    );
    expect(new Set(ends.map((end) => end?.kind === "error" && end.code))).toEqual(
      new Set(["app_server_crashed"]),
    );
    const refusals = opened.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(refusals).toEqual(refusals.map(() => expect.objectContaining({ code: "spawn_failed" })));
  });

  it("does not start a session if the callback throws", async () => {
    const spawned = shared.spawn({
      prompt: "work",
      cwd,
      onProcessSpawned: () => {
        throw new Error("not now");
      },
    });
    await expect(spawned).rejects.toMatchObject({ code: "spawn_failed", message: "not now" });
  });

  it("can be aborted during the launch", async () => {
    const abort = new AbortController();
    const launching = launchTiny({ fault: "--silent", signal: abort.signal });
    abort.abort();
    await expect(launching).rejects.toMatchObject({ code: "context_cancelled" });
  });

  it("ignores a cancellation: its process is ended once it serves no other session", async () => {
    await using provider = await launchTiny({ limits: { cancelMs: 50 } });
    const { pid = 0 } = provider;
    const other = await startSession(provider);
    const unresponsive = await startSession(provider, "unresponsive");
    await unresponsive.stop();
    expect(isAlive(pid)).toBe(true);
    await other.stop();
    const unresponsiveAlone = await startSession(provider, "unresponsive");
    await unresponsiveAlone.stop();
    expect(isAlive(pid)).toBe(false);
    expect(textOf(await runSession(provider, { prompt: "say hello again" }))).toBe("hello again");
  });

  it("does not exit by itself: the shutdown ends its process", async () => {
    const processLimits = { exitTimeoutMs: 50, terminateTimeoutMs: 50 };
    const provider = await launchTiny({ fault: "--stubborn", processLimits });
    const { pid = 0 } = provider;
    const works = await startSession(provider);
    await provider.shutdown();
    expect(await lastEventOf(works)).toMatchObject({ code: "provider_shutdown" });
    expect(isAlive(pid)).toBe(false);
  });

  it("is orphaned by a killed owner: the next launch ends its process", async () => {
    const program = fileURLToPath(new URL("../../test/acp-owner.ts", import.meta.url));
    const owner = spawn(process.execPath, ["--conditions=codexkit:source", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(owner.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    owner.kill("SIGKILL");
    await once(owner, "exit");
    expect(isAlive(pid)).toBe(true);
    await using _next = await launchTiny();
    expect(isAlive(pid)).toBe(false);
  });

  it("can be cancelled by its caller while a session is being opened", async () => {
    await using provider = await launchTiny({ fault: "--no-sessions" });
    const abort = new AbortController();
    const spawned = provider.spawn({ prompt: "work", cwd }, { signal: abort.signal });
    abort.abort();
    await expect(spawned).rejects.toMatchObject({ code: "context_cancelled" });
    const waiting = provider.spawn({ prompt: "work", cwd }).catch((error: unknown) => error);
    await provider.shutdown();
    expect(await waiting).toMatchObject({ code: "shut_down" });
  });
});
