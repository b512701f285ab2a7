// A daemon is killed while it delivers answers of parked requests, at each moment that makes a difference.
import {
  callTool,
  code,
  type Gate,
  gate,
  type Part,
  run,
  say,
  type ScriptFunction,
  type ScriptRequest,
  waitFor,
} from "@codexkit/scripted-model";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { InboxAnswer } from "../src/api/approval.ts";
import { allEvents, useDatabases } from "./database-fixture.ts";
import type { Moment } from "./delivery-moments.ts";
import { type DeliveringDaemon, type DeliveryStage, startDeliveryStage } from "./delivery-stage.ts";
import { runsOf } from "./parked-kinds.ts";
import { textsOf } from "./killed-runner.ts";
import { pollUntil } from "./poll-until.ts";
import { createTestSession, TestSession } from "./start-runner.ts";

type CaseMoment =
  | Moment
  /** While the action runs. */
  | "acting"
  /** Before the first reply of the model that decides again, or after it has said something. */
  | "deciding"
  | "speaking"
  /** Before the reply of the model that has received the output, or during the reply. */
  | "asked"
  | "streaming";

interface Case {
  readonly kind: keyof typeof KINDS;
  readonly moment: CaseMoment;
  /** When the next daemon is killed too. */
  readonly again?: CaseMoment;
  readonly decision?: "decline";
  /** The output that the model receives for the open call, and how often the action is carried out. */
  readonly output: RegExp;
  readonly runs: number;
  /** If Codex survives the daemon. Default: the same. */
  readonly survivor?: { readonly output?: RegExp; readonly runs?: number };
}

const UNKNOWN = /It may have run/;
const DONE = /done/;
const REFUSED = /rejected by user/;
const WAS_ACCEPTED = /A person accepted|which a person accepted/;

interface Kind {
  readonly model?: string;
  readonly ask: (name: string, request: ScriptRequest) => Part | readonly Part[];
}

const KINDS = {
  // The strategy is `inject`.
  command: { ask: (name: string) => run(commandOf(name), { callId: "call", escalate: "why" }) },
  // One command without a request runs at the same time.
  parallel: {
    ask: (name: string) => [
      run("echo beside", { callId: "beside" }),
      run(commandOf(name), { callId: "call", escalate: "why" }),
    ],
  },
  // The strategy is `rewind`.
  script: {
    model: "gpt-6.1-sol",
    ask: (name: string) => code(`text((await ${inScript(commandOf(name))}).output);`, { callId: "call" }),
  },
  permissions: {
    ask: () =>
      callTool(
        "request_permissions",
        { reason: "needed", permissions: { network: { enabled: true } } },
        { callId: "call" },
      ),
  },
  // The strategy is `report`.
  begunScript: {
    model: "gpt-6.1-sol",
    ask: (name: string) =>
      code(
        `text(await tools.exec_command({cmd: "echo first"}));\ntext(await ${inScript(commandOf(name))});`,
        { callId: "call" },
      ),
  },
  agent: {
    ask: (name: string, request: ScriptRequest) => {
      if (request.lastUserText.startsWith("child of")) {
        return request.commandResult("inner")
          ? say("child done")
          : run(commandOf(name), { callId: "inner", escalate: "why" });
      }
      const [spawned] = request.outputs;
      const agents = { namespace: "multi_agent_v1" };
      if (!spawned) {
        return callTool("spawn_agent", { message: `child of ${name}` }, { ...agents, callId: "spawn" });
      }
      const id = /"agent_id":"([^"]+)"/.exec(spawned.text)?.[1] ?? "";
      return callTool("wait_agent", { targets: [id] }, { ...agents, callId: "call" });
    },
  },
} satisfies Record<string, Kind>;

/** The command ends when the file with the name of its session exists. */
function commandOf(name: string): string {
  const wait = name.includes("acting") ? `until test -e ${name}.open; do sleep 0.02; done; ` : "";
  return `echo ran >> ${name}; ${wait}echo done`;
}

function inScript(cmd: string): string {
  return `tools.exec_command(${JSON.stringify({ cmd, sandbox_permissions: "require_escalated", justification: "why" })})`;
}

const CASES: readonly Case[] = [
  { kind: "command", moment: "after begin", output: DONE, runs: 1 },
  { kind: "command", moment: "after cut", output: DONE, runs: 1 },
  { kind: "command", moment: "before act", output: DONE, runs: 1 },
  { kind: "command", moment: "after act", output: UNKNOWN, runs: 0 },
  { kind: "command", moment: "acting", output: UNKNOWN, runs: 1 },
  { kind: "command", moment: "before result", output: UNKNOWN, runs: 1 },
  { kind: "command", moment: "after result", output: DONE, runs: 1 },
  { kind: "command", moment: "before continue", output: DONE, runs: 1 },
  { kind: "command", moment: "after continue", output: DONE, runs: 1 },
  { kind: "command", moment: "before finish", output: DONE, runs: 1 },
  { kind: "command", moment: "after finish", output: DONE, runs: 1 },
  { kind: "command", moment: "asked", output: DONE, runs: 1 },
  { kind: "command", moment: "streaming", output: DONE, runs: 1 },
  { kind: "command", decision: "decline", moment: "before continue", output: REFUSED, runs: 0 },
  { kind: "command", decision: "decline", moment: "after continue", output: REFUSED, runs: 0 },
  { kind: "parallel", moment: "after continue", output: DONE, runs: 1 },
  { kind: "command", moment: "after act", again: "before continue", output: UNKNOWN, runs: 0 },
  { kind: "command", moment: "after result", again: "after continue", output: DONE, runs: 1 },
  { kind: "command", moment: "after continue", again: "before finish", output: DONE, runs: 1 },
  { kind: "script", moment: "after cut", output: DONE, runs: 1 },
  { kind: "script", moment: "before continue", output: DONE, runs: 1 },
  { kind: "script", moment: "after continue", output: DONE, runs: 1 },
  { kind: "script", moment: "deciding", output: DONE, runs: 1 },
  { kind: "script", moment: "speaking", output: DONE, runs: 1 },
  { kind: "script", moment: "after cut", again: "after cut", output: DONE, runs: 1 },
  { kind: "script", moment: "speaking", again: "before continue", output: DONE, runs: 1 },
  { kind: "script", moment: "speaking", again: "deciding", output: DONE, runs: 1 },
  { kind: "script", moment: "before submit", output: DONE, runs: 1 },
  { kind: "script", moment: "after submit", output: UNKNOWN, runs: 0, survivor: { output: DONE, runs: 1 } },
  { kind: "script", moment: "acting", output: /^aborted$/, runs: 1, survivor: { output: DONE } },
  { kind: "script", moment: "asked", output: DONE, runs: 1 },
  { kind: "script", moment: "streaming", output: DONE, runs: 1 },
  { kind: "script", decision: "decline", moment: "after continue", output: REFUSED, runs: 0 },
  { kind: "permissions", moment: "before confirm", output: /"enabled":true/, runs: 0 },
  { kind: "permissions", moment: "asked", output: /"enabled":true/, runs: 0 },
  { kind: "begunScript", moment: "before continue", output: WAS_ACCEPTED, runs: 0 },
  { kind: "begunScript", moment: "after continue", output: WAS_ACCEPTED, runs: 0 },
  { kind: "begunScript", moment: "asked", output: WAS_ACCEPTED, runs: 0 },
  { kind: "agent", moment: "after continue", output: WAS_ACCEPTED, runs: 0 },
  { kind: "agent", moment: "streaming", output: WAS_ACCEPTED, runs: 0 },
];

/** Moments at which it matters that Codex continues, and those at which it matters that only the stored files are left. */
const SURVIVED =
  /^(?:acting|deciding|speaking|asked|streaming|before result|\w+ finish|after cut|after continue|\w+ (?:submit|confirm))$/;
const MOVED =
  /^(?:deciding|speaking|asked|streaming|before submit|after (?:act|cut|result)|\w+ (?:continue|finish|confirm))$/;

const nameOf = ({ kind, moment, again, decision }: Case): string =>
  [kind, decision ?? "accept", moment, ...(again === undefined ? [] : ["again", again])]
    .join("-")
    .replaceAll(" ", "-");

type Moments = ReadonlyMap<string, CaseMoment>;

/** The model of all sessions. Some of its replies are held until the daemon was killed. */
class Model {
  readonly #cases = new Map(CASES.map((each) => [nameOf(each), each]));
  readonly #last = new Map<string, ScriptRequest>();
  #held: { moments: Moments; asked: Map<string, PromiseWithResolvers<void>>; killed: Gate } | undefined;

  /** Holds the replies of sessions at their moments, until the next call. */
  hold(moments: Moments): void {
    this.release();
    const asked = new Map(Array.from(moments.keys(), (name) => [name, Promise.withResolvers<void>()]));
    this.#held = { moments, asked, killed: gate() };
  }

  release(): void {
    this.#held?.killed.open();
    this.#held = undefined;
  }

  /** Resolves when the reply of a session is held. */
  untilHeld(name: string): Promise<void> | undefined {
    return this.#held?.asked.get(name)?.promise;
  }

  /** The newest request for the reply to a second message. */
  lastRequest(name: string): ScriptRequest | undefined {
    return this.#last.get(name);
  }

  readonly script: ScriptFunction = (request) => {
    const [, first = "", name = ""] = /^(after |child of )?(\S+)/.exec(request.lastUserText) ?? [];
    const asked = this.#cases.get(name);
    if (!asked) return say("unknown");
    if (first === "after ") {
      this.#last.set(name, request);
      return say("noted");
    }
    const held = this.#held;
    const moment = held?.moments.get(name);
    const hold = (at: CaseMoment) => {
      if (!held || moment !== at) return [];
      held.asked.get(name)?.resolve();
      return [waitFor(held.killed)];
    };
    if (request.output("call")) return [...hold("asked"), say(["half ", ...hold("streaming"), "done"])];
    const spoken = moment === "speaking" ? [say("Again.")] : [];
    const call = [KINDS[asked.kind].ask(name, request)].flat();
    return [...hold("deciding"), ...spoken, ...hold("speaking"), ...call];
  };
}

/** The event after which a held reply was received. */
const RECEIVED: Partial<Record<CaseMoment, string>> = { speaking: "item.completed", streaming: "item.delta" };

async function untilReached(
  moment: CaseMoment,
  { name, id: sessionId }: { readonly name: string; readonly id: string },
  { model, stage, daemon }: { model: Model; stage: DeliveryStage; daemon: DeliveringDaemon },
): Promise<void> {
  if (moment === "acting") return pollUntil(async () => (await runsOf(stage.workspace, name)) === 1);
  if (/^(?:before|after) /.test(moment)) return daemon.until(sessionId, "stalled");
  await model.untilHeld(name);
  const event = RECEIVED[moment];
  if (event !== undefined) await daemon.until(sessionId, event);
}

async function checkKilled(
  location: string,
  cases: readonly Case[],
  { isCodexKilled, successor }: { readonly isCodexKilled: boolean; readonly successor: string },
): Promise<void> {
  const model = new Model();
  await using stage = await startDeliveryStage(model.script, location);
  const { workspace } = stage;

  const asking = await stage.start("a");
  const sessions = await Promise.all(
    cases.map(async (each) => {
      const { kind } = each;
      const { model: used }: Kind = KINDS[kind];
      const session = await createTestSession(asking.database, {
        cwd: workspace,
        permissionMode: "read-only",
        ...(used !== undefined && { model: used }),
      });
      const name = nameOf(each);
      await session.send(name);
      await session.approval();
      if (kind === "parallel") {
        await session.event((event) => event.type === "item.started" && event.item.id === "beside");
      }
      return { each, name, id: session.id };
    }),
  );
  await asking.runner.drain(0);
  for (const { id, each } of sessions) {
    const { rows } = await asking.database.inbox.list({ sessionId: id, state: "parked" });
    const answer: InboxAnswer = { type: "decision", offer: each.decision ?? "accept" };
    for (const row of rows) await asking.database.inbox.answer(row.id, { answer, by: "test" });
  }
  await asking.close();

  const killAt = async (moments: Moments): Promise<void> => {
    model.hold(moments);
    const moving = sessions.flatMap(({ name, id }) => {
      const moment = moments.get(name);
      return moment === undefined ? [] : [{ name, id, moment }];
    });
    const daemon = await stage.boot("a", Object.fromEntries(moving.map(({ id, moment }) => [id, moment])));
    const pending = new Set(moving.map(({ name }) => name));
    const reached = Promise.all(
      moving.map(async ({ moment, ...session }) => {
        await untilReached(moment, session, { model, stage, daemon });
        pending.delete(session.name);
      }),
    );
    await expect.poll(() => [...pending]).toEqual([]);
    await reached;
    await daemon.kill();
    await using killed = await stage.open();
    if (isCodexKilled) {
      for (const { pid } of await killed.appServers.list("a")) if (pid !== null) process.kill(pid, "SIGKILL");
      await killed.store.db.updateTable("node").set({ lease_until: 1 }).execute();
    }
  };
  await killAt(new Map(cases.map((each) => [nameOf(each), each.moment])));
  await Promise.all(sessions.map(({ name }) => writeFile(join(workspace, `${name}.open`), "")));
  const twice = cases.flatMap((each) => (each.again ? [[nameOf(each), each.again] as const] : []));
  if (twice.length > 0) await killAt(new Map(twice));
  model.release();

  const { database } = await stage.start(successor);
  const unclosed = (): Promise<readonly { id: string }[]> =>
    database.store.db
      .selectFrom("session")
      .innerJoin("approval", "approval.session_id", "session.id")
      .select("session.id")
      .where((where) =>
        where.or([where("session.phase", "<>", "idle"), where("approval.state", "<>", "delivered")]),
      )
      .execute();
  // Sessions that are stuck are found below.
  await pollUntil(async () => (await unclosed()).length === 0).catch(() => {});
  const stuck = new Set((await unclosed()).map(({ id }) => id));
  const results = await Promise.all(
    sessions.map(async ({ name, id }) => {
      const session = new TestSession(id, database);
      const turns = (await session.events()).filter(({ type }) => /^turn\.(?!started)/.test(type));
      if (!stuck.has(id)) {
        await session.send(`after ${name}`);
        await session.event((event) => textsOf([event], "agentMessage").includes("noted"));
      }
      const outputs = model.lastRequest(name)?.outputs.filter(({ callId }) => callId === "call");
      const reports = JSON.stringify(model.lastRequest(name)?.input ?? []).match(/person accepted/g);
      const events = await allEvents(database, id);
      return {
        isStuck: stuck.has(id),
        // The turn that asked, and at least one that continued.
        hasContinued: turns.length > 1,
        outputs: outputs?.map(({ text }) => text),
        hasOneReport: (reports?.length ?? 0) <= 1,
        runs: await runsOf(workspace, name),
        ends: events.map(({ type }) => type).filter((type) => /^inbox\.(?:delivered|withdrawn)$/.test(type)),
      };
    }),
  );
  for (const [index, { each, name }] of sessions.entries()) {
    const { output, runs } = { ...each, ...(!isCodexKilled && each.survivor) };
    expect.soft({ name, ...results[index] }).toEqual({
      name,
      isStuck: false,
      hasContinued: true,
      outputs: [expect.stringMatching(output) as string],
      hasOneReport: true,
      runs,
      ends: ["inbox.delivered"],
    });
  }
}

describe("a daemon that is killed during deliveries", () => {
  const sqlite = useDatabases("sqlite");
  const postgres = useDatabases("postgres");

  test("and its app-server survives: the next daemon completes them", async () => {
    const cases = CASES.filter(
      ({ moment, again, decision }) => SURVIVED.test(moment) && again === undefined && decision === undefined,
    );
    await checkKilled(await sqlite.location(), cases, { isCodexKilled: false, successor: "a" });
  });

  test("with its app-server: the next daemon completes them", async () => {
    const cases = CASES.filter(({ again }) => again === undefined);
    await checkKilled(await sqlite.location(), cases, { isCodexKilled: true, successor: "a" });
  });

  test("with its app-server, and again with the next one: the third daemon completes them", async () => {
    const cases = CASES.filter(({ again }) => again !== undefined);
    await checkKilled(await sqlite.location(), cases, { isCodexKilled: true, successor: "a" });
  });

  test("with its app-server and its machine: another node completes them from the store", async () => {
    const cases = CASES.filter(({ moment, again }) => MOVED.test(moment) && again === undefined);
    await checkKilled(await postgres.location(), cases, { isCodexKilled: true, successor: "b" });
  });
});
