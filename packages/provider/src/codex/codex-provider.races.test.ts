// Runs many sessions on one real codex that is killed meanwhile, at moments that a seed determines.
import { gate, run, say, waitFor } from "@codexkit/scripted-model";
import { repetitions } from "@codexkit/testing";
import fc from "fast-check";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { codexFixture, read, type Transcript, words } from "../../test/codex-fixture.ts";
import type { AgentEvent } from "../contract/agent-event.ts";
import type { AgentHandle } from "../contract/agent-provider.ts";

const SESSIONS = repetitions({ test: 30, soak: 100 });
const SEED = 1;
const LAW = /^init( (?:system|assistant_text|tool_use|tool_result|tool_progress|usage))* (?:result|error)$/;

/** How a session ends, and after how many of its events. */
interface Fate {
  readonly end: "finishes" | "is stopped" | "crashes";
  readonly after: number;
}

/** The fates of all sessions, a third each, in the order and at the moments that the seed determines. */
function fates(): Fate[] {
  const ends = (["finishes", "is stopped", "crashes"] as const).flatMap((end) =>
    Array.from({ length: Math.ceil(SESSIONS / 3) }, () => end),
  );
  const shuffled = fc.shuffledSubarray(ends, { minLength: SESSIONS, maxLength: SESSIONS });
  const afters = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: SESSIONS, maxLength: SESSIONS });
  const [sample] = fc.sample(fc.tuple(shuffled, afters), { numRuns: 1, seed: SEED });
  const [all = [], moments = []] = sample ?? [];
  return all.map((end, index) => ({ end, after: moments[index] ?? 1 }));
}

/** Reads a session to its end, and stops it if its fate says so. */
async function live(handle: AgentHandle, { end, after }: Fate): Promise<Transcript> {
  const events: AgentEvent[] = [];
  for await (const event of handle.events) {
    events.push(event);
    if (end === "is stopped" && events.length === after) void handle.stop();
  }
  const last = events.at(-1);
  if (last?.kind !== "result" && last?.kind !== "error") throw new Error("no end");
  return { sessionId: handle.sessionId, events, end: last };
}

describe("many sessions on one codex", () => {
  it("follow the rules of the stream, and release everything", { timeout: 120_000 }, async () => {
    const never = gate();
    await using fixture = await codexFixture(({ lastUserText, newOutputs }) => {
      if (newOutputs.length === 0) return run(`echo ${lastUserText.split(" ")[0]}`, { callId: "c" });
      return lastUserText.includes("finishes") ? say(lastUserText) : say(["Half a", waitFor(never)]);
    });
    const { pid } = fixture.provider;
    const { signal } = new AbortController();
    const all = fates().map((fate, index) => ({ fate, prompt: `number-${index} ${fate.end}` }));
    const sessions = await Promise.all(
      all.map(async ({ fate, prompt }) => {
        const handle = await fixture.provider.spawn(fixture.spec(prompt), { signal });
        return { fate, prompt, handle, reading: live(handle, fate) };
      }),
    );
    await Promise.all(sessions.flatMap(({ fate, reading }) => (fate.end === "finishes" ? [reading] : [])));
    // Sessions that have not been stopped yet are stopped around the kill.
    const rest = sessions.filter(({ fate }) => fate.end === "is stopped");
    for (const { fate, handle } of rest) if (fate.after % 2 === 0) void handle.stop();
    process.kill(pid ?? 0, "SIGKILL");
    for (const { handle } of rest) void handle.stop();
    for (const { fate, prompt, reading } of sessions) {
      const transcript = await reading;
      expect(transcript.events.map(({ kind }) => kind).join(" ")).toMatch(LAW);
      expect(openTools(transcript)).toEqual([]);
      const { end } = transcript;
      const how = end.kind === "error" ? end.code : (end.errorSubtype ?? words(transcript));
      expect(POSSIBLE[fate.end](prompt)).toContain(how);
    }
    await expect.poll(() => fixture.provider.sessions, { timeout: 10_000 }).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
    expect((await fixture.run(`number-${SESSIONS} finishes`)).end).toMatchObject({ success: true });
  });
});

describe("concurrent calls", () => {
  it("resume a session only once", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const first = await fixture.provider.spawn(fixture.spec("go"));
    await first.stop();
    const resumes = await Promise.allSettled(
      [1, 2, 3].map(() => fixture.provider.resume(first.sessionId, fixture.spec("again"))),
    );
    const refusals = resumes.flatMap((resume) => (resume.status === "rejected" ? [resume.reason] : []));
    expect(refusals).toMatchObject([{ code: "session_busy" }, { code: "session_busy" }]);
  });

  it("spawn before a shutdown, or reject", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const spawning = Array.from({ length: 5 }, () => fixture.provider.spawn(fixture.spec("go")));
    const ends = Promise.allSettled(spawning.map(async (handle) => (await read(await handle)).end));
    await spawning[0];
    await fixture.provider.shutdown();
    for (const end of await ends) {
      expect(end.status === "fulfilled" ? end.value : end.reason).toMatchObject({
        code: end.status === "fulfilled" ? "provider_shutdown" : "shut_down",
      });
    }
    expect(fixture.provider.sessions).toBe(0);
  });

  it("spawn on a codex that is being killed, on the next one, or reject", async () => {
    await using fixture = await codexFixture(() => say("done"));
    const spawning = Array.from(
      { length: 10 },
      async () => (await read(await fixture.provider.spawn(fixture.spec("go")))).end,
    );
    const ends = Promise.allSettled(spawning);
    process.kill(fixture.provider.pid ?? 0, "SIGKILL");
    for (const end of await ends) {
      const how =
        end.status === "rejected" ? end.reason.code : "code" in end.value ? end.value.code : "result";
      expect(["spawn_failed", "app_server_crashed", "result"]).toContain(how);
    }
    expect((await fixture.run("go")).end).toMatchObject({ success: true });
    await expect.poll(() => fixture.provider.sessions, { timeout: 10_000 }).toBe(0);
  });
});

/** The possible endings per fate. The crash may come before the stop. */
const POSSIBLE: Readonly<Record<Fate["end"], (prompt: string) => string[]>> = {
  finishes: (prompt) => [prompt],
  "is stopped": () => ["stopped", "app_server_crashed"],
  crashes: () => ["app_server_crashed"],
};

/** The tools with a `tool_use` and no `tool_result`. */
function openTools({ events }: Transcript): string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.kind === "tool_use") open.add(event.toolUseId);
    else if (event.kind === "tool_result") open.delete(event.toolUseId);
  }
  return [...open];
}
