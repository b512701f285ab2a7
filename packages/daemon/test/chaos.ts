// Kills the daemon, codex and Postgres at random moments while sessions run turns and wait for approvals, and checks the result.
import { messageOf } from "@codexkit/rpc/async";
import { callTool, pause, run, say, type ScriptFunction, type ScriptRequest } from "@codexkit/scripted-model";
import type { TestLocations } from "@codexkit/store/testing";
import { findFreePort, SeededRandom } from "@codexkit/testing";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { InboxAnswer } from "../src/api/approval.ts";
import type { SessionEvent } from "../src/api/event.ts";
import type { CreateSession } from "../src/api/settings.ts";
import { DaemonClientError } from "../src/client/errors.ts";
import { assertGapless } from "./database-fixture.ts";
import { type DaemonProcess, startDaemonProcess } from "./daemon-process.ts";
import { runsOf } from "./parked-kinds.ts";
import { processesWith } from "./processes-with.ts";
import { createDaemonHome, type DaemonHome } from "./start-daemon.ts";

export interface DaemonChaosOptions {
  readonly kind: "sqlite" | "postgres";
  readonly locations: TestLocations;
  readonly rounds: number;
  /** Decides every choice. The timing of processes still differs. */
  readonly seed: number;
  /** Default: all kinds of fault. */
  readonly faults?: readonly [Fault, ...Fault[]];
  readonly onRound?: (summary: string) => void;
}

/** How long the sessions may take to become idle after a fault. */
const SETTLE_MS = 120_000;
/** The longest delay between the messages and the fault. */
const FAULT_MS = 2_500;

const FAULTS = ["daemon", "codex", "both", "drain", "twice"] as const;
type Fault = (typeof FAULTS)[number] | "postgres";

const mcpServers = {
  till: {
    command: process.execPath,
    args: ["--conditions=codexkit:source", join(import.meta.dirname, "../../sdk/test/mcp-server.ts")],
  },
};
/** The first word of a message, which says what its turn does. */
const KINDS = {
  speak: {},
  work: {},
  accept: { permissionMode: "read-only" },
  decline: { permissionMode: "read-only" },
  pay: { permissionMode: "read-only", mcpServers },
} satisfies Record<string, Partial<CreateSession>>;
type Kind = keyof typeof KINDS;

interface Subject {
  readonly kind: Kind;
  /** Identifies the message, and the file to which its command appends. */
  readonly name: string;
  readonly sessionId: string;
  /** Texts of the session's messages, by command ID. */
  readonly messages: Map<string, string>;
}

const ACCEPT: InboxAnswer = { type: "decision", offer: "accept" };
const DECLINE: InboxAnswer = { type: "decision", offer: "decline" };

const append = (name: string): string => `echo ran >> ${name}; sleep 0.3; echo done`;

/** The output of a command or a payment that has completed. */
const COMPLETED = /^done$|"paid":3/m;

function script({ problems, completed }: Pick<ChaosContext, "problems" | "completed">): ScriptFunction {
  return (request) => {
    const name = request.lastUserText;
    checkOutputs(request, problems);
    if (request.newOutputs.some(({ text }) => COMPLETED.test(text))) completed.add(name);
    const [kind] = name.split("-");
    // The outcome of an approval may be delivered to the model as a user message.
    if (request.newOutputs.length > 0 || !(kind !== undefined && kind in KINDS)) return say(`end of ${name}`);
    switch (kind as Kind) {
      case "speak":
        return say(["one ", pause(200), "two ", pause(200), "three"]);
      case "work":
        return run(append(name), { callId: `call-${name}` });
      case "pay":
        return callTool("pay", { amount: 3, file: name }, { namespace: "mcp__till", callId: `call-${name}` });
      case "accept":
      case "decline":
        return run(append(name), { callId: `call-${name}`, escalate: "It writes." });
    }
  };
}

/** Checks that the model sees exactly one output per call. */
function checkOutputs({ outputs, lastUserText }: ScriptRequest, problems: string[]): void {
  const ids = outputs.map(({ callId }) => callId);
  if (new Set(ids).size < ids.length) problems.push(`${lastUserText}: outputs of ${ids.join(", ")}`);
}

/** Rejects with the seed unless every session continues after each fault and nothing was lost or done twice. */
export async function runDaemonChaos({
  kind,
  locations,
  rounds,
  seed,
  faults = kind === "postgres" ? [...FAULTS, "postgres"] : FAULTS,
  onRound,
}: DaemonChaosOptions): Promise<void> {
  const seen = { problems: [], completed: new Set<string>() };
  await using home = await createDaemonHome(script(seen), { kind, locations });
  const chaos = await Chaos.start(home, { locations, random: new SeededRandom(seed), faults, ...seen });
  try {
    for (let round = 0; round < rounds; round += 1) {
      const fault = await chaos.round(round);
      onRound?.(`round ${round}: ${fault}`);
    }
    await chaos.end();
    const codexHome = join(home.stateFolder, "codex");
    await until(
      "every process has ended",
      async () => (await processesWith(`CODEX_HOME=${codexHome}`)).length === 0,
    );
  } catch (error) {
    throw new Error(`Seed ${seed}: ${messageOf(error)}`, { cause: error });
  } finally {
    await chaos.end("SIGKILL");
  }
}

interface ChaosContext {
  readonly locations: TestLocations;
  readonly random: SeededRandom;
  readonly faults: readonly [Fault, ...Fault[]];
  /** Errors in the requests that the model received. */
  readonly problems: string[];
  /** Names of messages whose command or payment has completed, as far as the model was informed. */
  readonly completed: Set<string>;
}

class Chaos {
  readonly #home: DaemonHome;
  readonly #port: number;
  readonly #context: ChaosContext;
  readonly #subjects: Subject[] = [];
  #daemon: DaemonProcess;

  private constructor(home: DaemonHome, port: number, context: ChaosContext, daemon: DaemonProcess) {
    this.#home = home;
    this.#port = port;
    this.#context = context;
    this.#daemon = daemon;
  }

  static async start(home: DaemonHome, context: ChaosContext): Promise<Chaos> {
    const port = await findFreePort();
    return new Chaos(home, port, context, await startDaemonProcess(home, port));
  }

  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.#daemon.end(signal);
  }

  /** Creates sessions and sends a message to an older one, causes one fault, and checks the result. */
  async round(round: number): Promise<Fault> {
    const { random, faults } = this.#context;
    const fault = random.pick(faults);
    const answering = new AbortController();
    const answers = this.#answerAll(answering.signal);
    const begun = (Object.keys(KINDS) as Kind[]).map(async (kind) => this.#begin(kind, `${kind}-${round}`));
    const older = this.#subjects.length > 0 ? [random.pick(this.#subjects as [Subject])] : [];
    const again = older.map(async (subject) => this.#sendAgain(subject, round));
    await delay(random.between(0, FAULT_MS));
    await this.#make(fault);
    const subjects = [...(await Promise.all(begun)), ...older];
    this.#subjects.push(...subjects.slice(0, begun.length));
    await Promise.all(again);
    await this.#untilIdle(round, subjects);
    answering.abort();
    await answers;
    for (const subject of subjects) await this.#check(subject);
    const [problem] = this.#context.problems;
    if (problem !== undefined) throw new Error(problem);
    return fault;
  }

  async #make(fault: Fault): Promise<void> {
    const { locations, random } = this.#context;
    if (fault === "postgres") {
      await locations.postgres.kill();
      await delay(random.between(0, 500));
      await locations.postgres.restart();
      return;
    }
    if (fault === "codex" || fault === "both") await this.#killCodex();
    if (fault === "codex") return;
    for (let kills = fault === "twice" ? 2 : 1; kills > 0; kills -= 1) {
      await this.#daemon.end(fault === "drain" ? "SIGTERM" : "SIGKILL");
      this.#daemon = await startDaemonProcess(this.#home, this.#port);
      if (kills > 1) await delay(random.between(0, 1_000));
    }
  }

  async #killCodex(): Promise<void> {
    const { runner } = await this.#daemon.client.request("GET /diagnostics");
    for (const { pid } of (runner as { appServers: { pid: number }[] }).appServers) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has already exited.
      }
    }
  }

  async #begin(kind: Kind, name: string): Promise<Subject> {
    const cwd = this.#home.folders.workspace;
    const { session } = await persist(async () =>
      this.#daemon.client.createSession({ cwd, ...KINDS[kind] }, { idempotencyKey: `create-${name}` }),
    );
    const { id } = await persist(async () =>
      this.#daemon.client.send(session.id, name, { idempotencyKey: `send-${name}` }),
    );
    return { kind, name, sessionId: session.id, messages: new Map([[id, name]]) };
  }

  async #sendAgain({ sessionId, messages }: Subject, round: number): Promise<void> {
    const text = `again ${round}`;
    const { id } = await persist(async () =>
      this.#daemon.client.send(sessionId, text, { idempotencyKey: `again-${round}` }),
    );
    messages.set(id, text);
  }

  /** Answers all requests, and retries as a browser would. */
  async #answerAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(50);
      try {
        const { client } = this.#daemon;
        const { data } = await client.request("GET /inbox", { query: { limit: 200 } });
        for (const { id, state, request, sessionId } of data) {
          if (state !== "open" && state !== "parked") continue;
          const isDeclined = request.kind === "command" && request.command?.includes("decline-") === true;
          if (request.kind !== "command" && request.kind !== "mcpTool")
            throw new Error(`${sessionId}: ${request.kind}`);
          await client.answer(id, isDeclined ? DECLINE : ACCEPT);
        }
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
    }
  }

  /** Waits until all sessions are idle. If they don't become idle in time, rejects with their states. */
  async #untilIdle(round: number, subjects: readonly Subject[]): Promise<void> {
    let busy: Subject[] = [];
    try {
      await until(`the sessions of round ${round} are idle`, async () => {
        const found: Subject[] = [];
        // Older sessions were idle at the end of their round. Only one of them received another message since.
        for (const subject of subjects) if (!(await this.#isIdle(subject))) found.push(subject);
        busy = found;
        return busy.length === 0;
      });
    } catch (error) {
      for (const subject of busy) await this.#fail(subject, String(error), await this.#events(subject));
      throw error;
    }
  }

  async #isIdle({ sessionId }: Subject): Promise<boolean> {
    const params = { sessionId };
    const { phase } = await this.#daemon.client.request("GET /sessions/{sessionId}", { params });
    const { data } = await this.#daemon.client.request("GET /sessions/{sessionId}/commands", { params });
    return phase === "idle" && data.length === 0;
  }

  async #events({ sessionId }: Subject): Promise<readonly SessionEvent[]> {
    const events: SessionEvent[] = [];
    for (let after = 0; ; after = events.at(-1)?.seq ?? 0) {
      const page = await this.#daemon.client.request("GET /sessions/{sessionId}/events", {
        params: { sessionId },
        query: { after, limit: 1000 },
      });
      events.push(...(page?.events ?? []));
      if ((page?.events.length ?? 0) === 0) return events;
    }
  }

  async #fail({ name, sessionId }: Subject, what: string, events: readonly SessionEvent[]): Promise<never> {
    const session = await this.#daemon.client.request("GET /sessions/{sessionId}", { params: { sessionId } });
    const { data } = await this.#daemon.client.request("GET /inbox", { query: { sessionId, limit: 200 } });
    const lines = [session, ...data, ...events].map((part) => JSON.stringify(part).slice(0, 300));
    throw new Error(`${name}: ${what}\n${lines.join("\n")}`);
  }

  async #check(subject: Subject): Promise<void> {
    const { sessionId, name, kind, messages } = subject;
    const events = await this.#events(subject);
    const fail = (what: string): Promise<never> => this.#fail(subject, what, events);
    assertGapless(events);
    if (events.some(({ epoch }, index) => epoch < (events[index - 1]?.epoch ?? 0)))
      await fail("An epoch is lower than the one before.");
    for (const [id, text] of messages) {
      const ends = events.filter((event) => event.type === "command.finished" && event.commandId === id);
      if (ends.length !== 1) await fail(`The command ${id} has ${ends.length} results.`);
      const sent = events.filter((event) => event.type === "item.completed" && textOf(event) === text);
      if (sent.length !== 1) await fail(`"${text}" was sent ${sent.length} times.`);
    }
    const ended = events.flatMap((event) =>
      /^turn\.(?:completed|failed|interrupted)$/.test(event.type) && "turnId" in event ? [event.turnId] : [],
    );
    const started = events.flatMap((event) => (event.type === "turn.started" ? [event.turnId] : []));
    if (new Set(ended).size !== ended.length || ended.length !== started.length)
      await fail("A turn ended twice or never.");
    const runs = await runsOf(this.#home.folders.workspace, name);
    // After a fault, the outcome of what had been accepted may be unknown.
    const least = this.#context.completed.has(name) ? 1 : 0;
    const most = kind === "speak" || kind === "decline" ? 0 : 1;
    if (runs < least || runs > most) await fail(`It ran ${runs} times, not ${least} to ${most} times.`);
    const { data } = await this.#daemon.client.request("GET /inbox", { query: { sessionId, limit: 200 } });
    if (data.some(({ state }) => ["open", "parked", "answered"].includes(state)))
      await fail("The session has an open request.");
  }
}

function textOf(event: Extract<SessionEvent, { type: "item.completed" }>): string | undefined {
  if (event.item.type !== "userMessage") return undefined;
  return event.item.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Whether an error is expected: the daemon or its store is unavailable, or another answer arrived first. */
function isPassing(error: unknown): boolean {
  if (!DaemonClientError.is(error))
    return error instanceof TypeError || (error as Error).name === "AbortError";
  const { status, type = "" } = error.problem ?? {};
  return (status ?? 500) >= 500 || ["already_answered", "draining"].includes(type);
}

async function persist<Value>(call: () => Promise<Value>): Promise<Value> {
  for (const end = Date.now() + SETTLE_MS; ;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || Date.now() > end) throw error;
      await delay(50);
    }
  }
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + SETTLE_MS; Date.now() < end; await delay(100)) {
    try {
      if (await condition()) return;
    } catch (error) {
      if (!isPassing(error)) throw error;
      last = error;
    }
  }
  throw new Error(`Waited for ${SETTLE_MS} ms: ${what}.`, { cause: last });
}
