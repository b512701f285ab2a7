// Every kind of request is parked by a drain and on request, and answered later. test/parked.test.ts kills the processes.
import { describe, expect, test } from "vitest";
import {
  answerFor,
  PARKED_KINDS,
  PARKED_OPTIONS,
  type ParkedKind,
  parkedScript,
  prepareCodex,
  runsOf,
} from "../../test/parked-kinds.ts";
import { startRunner, type TestRunner, type TestSession } from "../../test/start-runner.ts";
import type { SessionEvent } from "../api/event.ts";
import { createRunner } from "./create-runner.ts";

interface Case {
  readonly kind: ParkedKind;
  readonly decision: "accept" | "decline";
  readonly name: string;
  readonly session: TestSession;
}

const isDelivered = ({ type }: SessionEvent): boolean => type === "inbox.delivered";

/** Creates one session per kind and answer, each with an open approval. */
async function openAll(stage: TestRunner, way: string): Promise<readonly Case[]> {
  return Promise.all(
    Object.entries(PARKED_KINDS).flatMap(([key, kind]) =>
      (["accept", "decline"] as const).map(async (decision) => {
        const session = await stage.create({ permissionMode: "read-only", ...kind.session });
        const name = `${key.replaceAll(" ", "_")}-${decision}-${way}`;
        await session.send(name);
        await session.approval(kind.requests);
        return { kind, decision, name, session };
      }),
    ),
  );
}

async function answerAll(stage: TestRunner, cases: readonly Case[]): Promise<void> {
  for (const { session, kind, decision } of cases) {
    const { rows } = await stage.database.inbox.list({ sessionId: session.id, state: "parked" });
    expect(rows).toHaveLength(kind.requests ?? 1);
    for (const row of rows) await session.answer(row, answerFor(kind, decision));
  }
}

async function checkAll(stage: TestRunner, cases: readonly Case[]): Promise<void> {
  for (const { session, kind, decision, name } of cases) {
    const { requests = 1 } = kind;
    const { seq } = await session.event(({ type }) => type === "inbox.answered");
    const end = await session.ended(undefined, seq);
    const events = await session.events();
    const strategy = events.find(isDelivered);
    const { rows } = await stage.database.inbox.list({ sessionId: session.id });
    expect
      .soft({ name, end: end.type, strategy: strategy && "strategy" in strategy && strategy.strategy })
      .toEqual({
        name,
        end: "turn.completed",
        strategy: kind.strategies[decision === "accept" ? 0 : 1],
      });
    const response = "result" in end ? (end.result as { finalResponse: string }).finalResponse : "[]";
    const outputs = JSON.parse(response) as string[];
    expect.soft(outputs, name).toHaveLength(1);
    expect.soft(outputs[0], name).toMatch(decision === "accept" ? kind.accepted : kind.declined);
    expect
      .soft(
        rows.map(({ state }) => state),
        name,
      )
      .toEqual(rows.map(() => "delivered"));
    expect.soft(await runsOf(stage.workspace, name), name).toBe(decision === "accept" ? kind.runs : 0);
    expect
      .soft(
        events.filter(({ type }) => type === "inbox.opened"),
        name,
      )
      .toHaveLength(requests);
    expect.soft((await session.row()).phase, name).toBe("idle");
  }
}

describe("approvals of every kind", () => {
  test("survive a drain of the daemon", async () => {
    await using stage = await startRunner(parkedScript, PARKED_OPTIONS);
    await prepareCodex(stage.options.stateFolder);
    const cases = await openAll(stage, "drained");
    await stage.runner.drain(20_000);
    await answerAll(stage, cases);
    await using next = createRunner(stage.options);
    await next.start();
    await checkAll(stage, cases);
  });

  test("survive being parked on request", async () => {
    await using stage = await startRunner(parkedScript, PARKED_OPTIONS);
    await prepareCodex(stage.options.stateFolder);
    const cases = await openAll(stage, "asked");
    const results = await Promise.all(cases.map(({ session }) => session.run("park", {})));
    expect(results).toEqual(cases.map(({ kind }) => ({ ok: true, parked: kind.requests ?? 1 })));
    await answerAll(stage, cases);
    await checkAll(stage, cases);
  });
});
