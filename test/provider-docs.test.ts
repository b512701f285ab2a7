// Runs the programs in the docs.
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { say } from "@codexkit/scripted-model";
import { startTestDaemon } from "../packages/cli/test/test-daemon.ts";
import { describe, expect, it } from "vitest";
import { readDocBlocks } from "./doc-blocks.ts";

const root = join(import.meta.dirname, "..");

/** The `ts` blocks of a page that contain a text. */
function blocks(page: string, part: string): string[] {
  return readDocBlocks(`docs/${page}`)
    .map(({ code }) => code)
    .filter((code) => code.includes(part));
}

function run(program: string): { status: number | null; output: string } {
  const args = ["--conditions=codexkit:source", "--input-type=module-typescript", "-"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    input: program,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  return { status, output: stdout + stderr };
}

/** Like `run`, but does not block this process. The program reads the settings from the variable SETTINGS. */
async function runAsync(program: string, settings: object): Promise<{ output: string }> {
  const child = spawn(
    process.execPath,
    ["--conditions=codexkit:source", "--input-type=module-typescript", "-"],
    { cwd: root, env: { ...process.env, NODE_OPTIONS: "", SETTINGS: JSON.stringify(settings) } },
  );
  child.stdin.end(program);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { output: stdout + stderr };
}

// Each program loads the whole package from its sources.
describe("the docs", { timeout: 120_000 }, () => {
  it("have an example provider and a stub example that pass the suite as printed", () => {
    const programs = blocks("provider.md", "await runConformance(");
    expect(programs).toHaveLength(2);
    for (const program of programs) {
      const { status, output } = run(program);
      expect(output).toMatch(/^(parrot|stub): conforms \(\d+ passed, 0 failed/);
      expect(status).toBe(0);
    }
  });

  it("have a fleet that retries, adds costs and reports rejected specs", () => {
    const [fleet = ""] = blocks("provider-recipes.md", "runFleet");
    const { output } = run(`${fleet}\n${FLEET_DRIVER}`);
    expect(output.trim().split("\n")).toEqual([
      "a: 1 attempts, success, 2 calls",
      "b: 3 attempts, provider_failed, 3 calls",
      "c: 1 attempts, invalid_spec, 0 calls",
      "d: 1 attempts, success, 2 calls",
      "at most 2 at a time: true, resumed: true",
    ]);
  });

  it("have a Temporal activity that resumes after a crash, here and on another worker", () => {
    const [activity = ""] = blocks("provider-recipes.md", "createActivities");
    const { output } = run(`${activity}\n${TEMPORAL_DRIVER}`);
    expect(output.trim().split("\n")).toEqual([
      "first attempt: stub-1 crashed, heartbeats true",
      "second attempt: stub-1 success true, knows the first true",
      "other worker: stub-1 success true, knows both turns true",
      "wrong spec: nonRetryable invalid_spec",
      "cancelled: cancelled by the workflow",
      "keys of the first and of a repeated attempt: w/1 w/1",
    ]);
  });

  it("have a job handler that delivers retryable failures again, and moves between workers", () => {
    const [handler = ""] = blocks("provider-recipes.md", "createJobHandler");
    const { output } = run(`${handler}\n${QUEUE_DRIVER}`);
    expect(output.trim().split("\n")).toEqual([
      "first job: stub-1 success true",
      "second job, elsewhere: knows both turns true",
      "overloaded: Job 3 failed and can be retried.",
      "wrong spec: invalid_spec",
      "cancelled: cancelled by the queue",
    ]);
  });

  it("have a client of the daemon that runs a turn once, however often it is called", async () => {
    const [client = ""] = blocks("provider-recipes.md", "runTurn(\n  client");
    await using daemon = await startTestDaemon(() => [say("Done.")]);
    const { url, token, workspace } = daemon;
    const { output } = await runAsync(`${client}\n${DAEMON_DRIVER}`, { url, token, workspace });
    expect(output.trim().split("\n")).toEqual([
      "first attempt: turn.completed Done.",
      "second attempt: the same turn",
      "next turn: another turn in the same session, events after the first only",
      "refused: path_not_allowed",
      "messages in the session: 2",
    ]);
  });

  it("have a Restate handler that does not run a journaled turn again, and moves between processes", () => {
    const [handler = ""] = blocks("provider-recipes.md", "createConversation");
    const { output } = run(`${handler}\n${RESTATE_DRIVER}`);
    expect(output.trim().split("\n")).toEqual([
      "first turn: success true",
      "replayed: success true, sessions 1",
      "second turn, elsewhere: success true, session stub-1",
      "wrong spec: terminal true",
      "key of the first turn: k/0",
    ]);
  });
});

const FLEET_DRIVER = `
import { createProviders, type AgentEvent } from "@codexkit/provider";
import { StubProvider } from "@codexkit/provider/stub";

let running = 0;
let most = 0;
let resumed = 0;
/** Counts the open sessions of a provider. Its failures are retryable, as those of an overloaded endpoint are. */
function counted(inner: AgentProvider): AgentProvider {
  const count = async (opening: Promise<AgentHandle>): Promise<AgentHandle> => {
    const { sessionId, ignored, events } = await opening;
    running += 1;
    most = Math.max(most, running);
    async function* all(): AsyncGenerator<AgentEvent> {
      try {
        for await (const event of events) yield event.kind === "error" ? { ...event, retryable: true } : event;
      } finally {
        running -= 1;
      }
    }
    return { sessionId, ignored, events: all(), inject: async () => {}, stop: async () => {}, [Symbol.asyncDispose]: async () => {} };
  };
  return {
    name: inner.name,
    capabilities: inner.capabilities,
    spawn: (spec, options) => count(inner.spawn(spec, options)),
    resume: (id, spec, options) => {
      resumed += 1;
      return count(inner.resume(id, spec, options));
    },
    export: (id) => inner.export(id),
    import: (bytes) => inner.import(bytes),
    shutdown: () => inner.shutdown(),
    [Symbol.asyncDispose]: () => inner.shutdown(),
  };
}
const cwd = process.cwd();
await using providers = await createProviders([counted(new StubProvider())]);
const task = (id: string, spec: Partial<AgentSpec> = {}): Task => ({ id, provider: "stub", spec: { prompt: "Do it", cwd, ...spec } });
const outcomes = await runFleet(
  providers,
  [task("a"), task("b", { providerConfig: { behaviour: "mid-stream-error" } }), task("c", { cwd: "here" }), task("d")],
  { concurrency: 2 },
);
for (const { task: id, attempts, cost, end, error } of outcomes) {
  const how = error?.code ?? (end?.kind === "error" ? end.code : end?.success ? "success" : end?.errorSubtype);
  console.log(id + ":", attempts, "attempts, " + how + ", " + (cost.turns ?? 0), "calls");
}
console.log("at most 2 at a time:", (most === 2) + ", resumed:", resumed === 2);
`;

const TEMPORAL_DRIVER = `
import { StubProvider, StubSessions } from "@codexkit/provider/stub";

const stored = new Map<string, Uint8Array>();
const store: SessionStore = {
  get: async (id) => stored.get(id),
  put: async (id, bytes) => void stored.set(id, bytes),
};
let beats: Progress[] = [];
function activityContext(heartbeatDetails?: unknown, signal = new AbortController().signal): ActivityContext {
  return {
    info: { activityId: "1", workflowExecution: { workflowId: "w" }, heartbeatDetails },
    cancellationSignal: signal,
    heartbeat: (details) => void beats.push(details),
  };
}
function activities(provider: AgentProvider, worker: string, context: ActivityContext): ReturnType<typeof createActivities> {
  const nonRetryable = (message: string, type: string): Error => new Error("nonRetryable " + type, { cause: message });
  return createActivities({ provider, store, nonRetryable, worker, currentContext: () => context });
}
const cwd = process.cwd();
const here = new StubProvider();
const works = { prompt: "the heron", cwd, providerConfig: { behaviour: "hang-then-timeout" } };
// A retryable end, like a crash of the agent: the provider is shut down during the session.
const sessions = new StubSessions();
const dying = new StubProvider({ sessions });
const first = activities(dying, "a", activityContext()).runTurn({ spec: works });
const failed = first.catch((error: Error) => error);
await new Promise((resolve) => setImmediate(resolve));
await dying.shutdown();
await failed;
console.log("first attempt:", beats[0]?.sessionId, "crashed, heartbeats", beats.length > 0);

const restarted = new StubProvider({ sessions });
const spec = { prompt: "the otter", cwd };
const second = await activities(restarted, "a", activityContext(beats.at(-1))).runTurn({ spec });
const isSuccess = (end: TerminalEvent): boolean => end.kind === "result" && end.success;
const textOf = (id: string): string => new TextDecoder().decode(stored.get(id));
console.log("second attempt:", second.sessionId, "success", isSuccess(second.end) + ", knows the first", /heron.*otter/.test(textOf(second.sessionId)));

const elsewhere = new StubProvider();
const third = await activities(elsewhere, "b", activityContext()).runTurn({ spec, sessionId: second.sessionId });
console.log("other worker:", third.sessionId, "success", isSuccess(third.end) + ", knows both turns", /heron.*otter.*otter/.test(textOf(third.sessionId)));

const wrong = await activities(here, "a", activityContext()).runTurn({ spec: { ...spec, cwd: "nowhere" } }).catch((error: Error) => error);
console.log("wrong spec:", (wrong as Error).message);

const abort = new AbortController();
const cancelled = activities(here, "a", activityContext(undefined, abort.signal)).runTurn({ spec: works }).catch((error: unknown) => error);
await new Promise((resolve) => setImmediate(resolve));
abort.abort("cancelled by the workflow");
console.log("cancelled:", await cancelled);

// Two attempts whose worker died before its first heartbeat.
const keys: unknown[] = [];
class Recording extends StubProvider {
  override spawn(...args: Parameters<StubProvider["spawn"]>): ReturnType<StubProvider["spawn"]> {
    keys.push(args[1]?.idempotencyKey);
    return super.spawn(...args);
  }
}
for (const worker of ["a", "b"]) await activities(new Recording(), worker, activityContext()).runTurn({ spec });
console.log("keys of the first and of a repeated attempt:", ...keys);
`;

const RESTATE_DRIVER = `
import { StubProvider, StubSessions } from "@codexkit/provider/stub";

const stored = new Map<string, Uint8Array>();
const store = {
  get: async (id: string) => stored.get(id),
  put: async (id: string, bytes: Uint8Array) => void stored.set(id, bytes),
};
const state = new Map<string, unknown>();
const journal = new Map<string, unknown>();
function objectContext(): ObjectContext {
  return {
    key: "k",
    get: async (name) => state.get(name) ?? null,
    set: (name, value) => void state.set(name, value),
    run: async (name, action) => {
      if (!journal.has(name)) journal.set(name, JSON.parse(JSON.stringify(await action())));
      return journal.get(name) as never;
    },
    request: () => ({ attemptCompletedSignal: new AbortController().signal }),
  };
}
const cwd = process.cwd();
const terminalError = (message: string): Error => new Error("terminal", { cause: message });
const isSuccess = (end: TerminalEvent): boolean => end.kind === "result" && end.success;
const keys: unknown[] = [];
class Recording extends StubProvider {
  override spawn(...args: Parameters<StubProvider["spawn"]>): ReturnType<StubProvider["spawn"]> {
    keys.push(args[1]?.idempotencyKey);
    return super.spawn(...args);
  }
}
const here = new Recording({ sessions: new StubSessions() });
const conversation = createConversation({ provider: here, store, terminalError });
console.log("first turn: success", isSuccess(await conversation.turn(objectContext(), { prompt: "the heron", cwd })));
// The process dies after the journal entry is written and before the state is stored.
state.clear();
const again = await conversation.turn(objectContext(), { prompt: "the heron", cwd });
console.log("replayed: success", isSuccess(again) + ", sessions", stored.size);
const elsewhere = createConversation({ provider: new StubProvider(), store, terminalError });
const second = await elsewhere.turn(objectContext(), { prompt: "the otter", cwd });
console.log("second turn, elsewhere: success", isSuccess(second) + ", session", state.get("sessionId"));
const wrong = await elsewhere.turn(objectContext(), { prompt: "", cwd }).catch((error: Error) => error);
console.log("wrong spec: terminal", (wrong as Error).message === "terminal");
console.log("key of the first turn:", ...keys);
`;

const QUEUE_DRIVER = `
import { StubProvider, StubSessions } from "@codexkit/provider/stub";

const stored = new Map<string, Uint8Array>();
const store: WorkerDeps["store"] = {
  get: async (id) => stored.get(id),
  put: async (id, bytes) => void stored.set(id, bytes),
};
const cwd = process.cwd();
const signal = new AbortController().signal;
const isSuccess = (result: JobResult | ProviderError): boolean => "end" in result && result.end.kind === "result" && result.end.success;
const idOf = (result: JobResult | ProviderError): string => ("sessionId" in result ? String(result.sessionId) : "none");
const sessions = new StubSessions();
const handle = createJobHandler({ provider: new StubProvider({ sessions }), store });
const first = await handle({ id: "1", spec: { prompt: "the heron", cwd }, signal });
console.log("first job:", idOf(first), "success", isSuccess(first));
const elsewhere = createJobHandler({ provider: new StubProvider(), store });
const second = await elsewhere({ id: "2", spec: { prompt: "the otter", cwd }, sessionId: idOf(first), signal });
console.log("second job, elsewhere: knows both turns", /heron.*otter/.test(new TextDecoder().decode(stored.get(idOf(second)))));

class Overloaded extends StubProvider {
  override async spawn(...args: Parameters<StubProvider["spawn"]>): ReturnType<StubProvider["spawn"]> {
    const inner = await super.spawn(...args);
    const events = (async function* () {
      for await (const event of inner.events) yield event.kind === "error" ? { ...event, retryable: true } : event;
    })();
    return { sessionId: inner.sessionId, ignored: inner.ignored, events, inject: async () => {}, stop: async () => {}, [Symbol.asyncDispose]: async () => {} };
  }
}
const overloaded = createJobHandler({ provider: new Overloaded(), store });
const failing = { prompt: "x", cwd, providerConfig: { behaviour: "mid-stream-error" } };
console.log("overloaded:", ((await overloaded({ id: "3", spec: failing, signal }).catch((error: unknown) => error)) as Error).message);
const wrong = await handle({ id: "4", spec: { prompt: "x", cwd: "nowhere" }, signal });
console.log("wrong spec:", ProviderError.is(wrong) && wrong.code);
const abort = new AbortController();
const hanging = { prompt: "x", cwd, providerConfig: { behaviour: "hang-then-timeout" } };
const cancelled = handle({ id: "5", spec: hanging, signal: abort.signal }).catch((error: unknown) => error);
await new Promise((resolve) => setImmediate(resolve));
abort.abort("cancelled by the queue");
console.log("cancelled:", await cancelled);
`;

const DAEMON_DRIVER = `
import { DaemonClient as Client } from "@codexkit/daemon/client";

const { url, token, workspace: cwd } = JSON.parse(process.env.SETTINGS ?? "");
const client = new Client({ url, token });
let last = 0;
const onEvent = (event: SessionEvent): void => {
  last = event.seq;
};
const first = await runTurn(client, { key: "w/1", cwd, prompt: "One", onEvent });
console.log("first attempt:", first.end.type, first.end.result.finalResponse);
const second = await runTurn(client, { key: "w/1", cwd, prompt: "One", after: last - 1 });
console.log("second attempt:", second.end.turnId === first.end.turnId ? "the same turn" : "another turn");
const seen: number[] = [];
const { sessionId } = first;
const after = last;
const next = await runTurn(client, { key: "w/2", cwd, prompt: "Two", sessionId, after, onEvent: ({ seq }) => void seen.push(seq) });
console.log("next turn:", next.end.turnId === first.end.turnId ? "the same" : "another", "turn in the", next.sessionId === sessionId ? "same" : "other", "session, events after the first", Math.min(...seen) > after && "only");
const refused = await runTurn(client, { key: "w/3", cwd: "/", prompt: "x" }).catch((error: unknown) => error);
console.log("refused:", (refused as { code: string }).code);
const { data } = await client.request("GET /sessions/{sessionId}/turns", { params: { sessionId } });
console.log("messages in the session:", data.length);
`;
