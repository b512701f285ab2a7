import type { ScriptRequest } from "@codexkit/scripted-model";
import { expect } from "vitest";
import type { SessionEvent } from "../../src/api/event.ts";
import { assertGapless } from "../database-fixture.ts";
import type { FleetClient } from "./fleet-client.ts";

export interface Checked {
  /** Number of completed items that the thread contains as the model sees it. */
  items: number;
  /** Number of completed commands whose output did not reach the model, because a crash interrupted the turn. */
  abortedOutputs: number;
}

const SHOWN_CHARACTERS = 200;

let checks = 0;

/**
 * Checks what must hold once all faults have ended. Sends one more message to every session: the model request for it contains the
 * whole thread.
 */
export async function checkInvariants(client: FleetClient): Promise<Checked> {
  const checked: Checked = { items: 0, abortedOutputs: 0 };
  await Promise.all(
    client.sessions.map(async ({ id }) => {
      checks += 1;
      const name = `check${checks}`;
      await client.idle(id);
      for (const message of client.sent.filter(({ sessionId }) => sessionId === id)) {
        await client.finished(message);
      }
      const text = `say ${name}`;
      const sent = await client.send(id, text);
      const { state, result, problem } = await client.finished(sent);
      expect(state, `state of "${text}": ${JSON.stringify(problem)}`).toBe("done");
      await client.event(
        id,
        (event) => isEnd(event) && "turnId" in event && event.turnId === result?.["turnId"],
      );
      await client.idle(id);
      const events = await client.storedEvents(id);
      checkJournal(client, id, events);
      const { threadId } = await client.session(id);
      checkThread(client, { sessionId: id, threadId, text, events }, checked);
    }),
  );
  await checkActs(client);
  return checked;
}

function checkJournal(client: FleetClient, sessionId: string, events: readonly SessionEvent[]): void {
  assertGapless(events);
  let epoch = 0;
  for (const event of events) {
    if (event.epoch < epoch)
      throw new Error(`Event ${event.seq} of ${sessionId} has epoch ${event.epoch} after ${epoch}.`);
    epoch = event.epoch;
  }
  for (const { commandId, text } of client.sent.filter((sent) => sent.sessionId === sessionId)) {
    const results = events.filter(isResultOf(commandId));
    expect(results, `results of "${text}" in ${sessionId}`).toHaveLength(1);
  }
  const ends = events.filter(isEnd).map((event) => "turnId" in event && event.turnId);
  expect(ends, `ends of turns in ${sessionId}`).toEqual([...new Set(ends)]);
  for (const reader of client.readers) {
    if (reader.sessionId !== sessionId) continue;
    const got = reader.events.filter(({ seq }) => seq <= (events.at(-1)?.seq ?? 0));
    expect(got.map(({ seq, type, epoch: of }) => [seq, type, of])).toEqual(
      events.slice(0, got.length).map(({ seq, type, epoch: of }) => [seq, type, of]),
    );
  }
}

/** Compares the journal with the thread as the model sees it. */
function checkThread(
  { fleet, sent, revertedTurns }: FleetClient,
  session: {
    readonly sessionId: string;
    readonly threadId: string | null;
    /** The newest message. The model request for it contains the thread. */
    readonly text: string;
    readonly events: readonly SessionEvent[];
  },
  checked: Checked,
): void {
  const { sessionId, threadId, text: checkText, events } = session;
  const request = fleet.model.requests.findLast(({ lastUserText }) => lastUserText === checkText);
  if (!request) throw new Error(`The model did not receive "${checkText}".`);
  const fail = (what: string): never => {
    throw new Error(`${what}\n${describe(request, events)}`);
  };
  const texts = request.input.map((item) => JSON.stringify(item));
  const own = sent.filter((message) => message.sessionId === sessionId);
  for (const { text, commandId } of own) {
    const result = events.find(isResultOf(commandId));
    if (!result || (result.type === "command.finished" && result.problem)) continue;
    const times = texts.filter((item) => item.includes(`"${text}"`)).length;
    if (times !== 1) fail(`The thread of ${sessionId} contains the message "${text}" ${times} times.`);
  }
  for (const event of events) {
    if (event.type !== "item.completed" || event.threadId !== threadId) continue;
    if (revertedTurns.has(event.turnId) || event.turnId === request.turnId) continue;
    const { item } = event;
    if (item.type === "agentMessage" && item.text !== "") {
      const { text } = item;
      if (!texts.some((shown) => shown.includes(text))) fail(`The thread of ${sessionId} lacks "${text}".`);
      checked.items += 1;
    }
    if (item.type === "commandExecution" && item.status === "completed") {
      const output = request.output(item.id);
      if (!output) fail(`The thread of ${sessionId} lacks the command ${item.id}.`);
      else if (output.text.includes(`ran ${item.id}`)) checked.items += 1;
      else checked.abortedOutputs += 1;
    }
  }
}

/** Formats what the model sees of a thread, and what clients see. */
function describe(request: ScriptRequest, events: readonly SessionEvent[]): string {
  const input = request.input.map(({ type, role, content, output }) =>
    [type, role, JSON.stringify(content ?? output ?? "").slice(0, SHOWN_CHARACTERS)].join(" "),
  );
  const journal = events.map((event) => {
    const { seq, epoch, type } = event;
    const about = "item" in event ? event.item : "commandId" in event ? event : undefined;
    return `${seq} ${epoch} ${type} ${JSON.stringify(about ?? "").slice(0, SHOWN_CHARACTERS)}`;
  });
  return `The model sees:\n${input.join("\n")}\nThe journal has:\n${journal.join("\n")}`;
}

/** Checks that no two app-servers act for one session: one app-server runs all commands of a turn, and turns don't overlap. */
async function checkActs({ fleet, readers }: FleetClient): Promise<void> {
  const turns = new Map<string, number>();
  for (const { events } of readers) {
    for (const event of events) {
      if (event.type === "turn.started" && !turns.has(event.turnId)) turns.set(event.turnId, event.seq);
    }
  }
  const last = new Map<string, { turnId: string; pid: string; order: number }>();
  const ended = new Set<string>();
  for (const line of await fleet.actLines()) {
    const [threadId = "", turnId = "", pid = ""] = line.split(" ");
    const before = last.get(threadId);
    const order = turns.get(turnId) ?? before?.order ?? 0;
    const key = `${turnId} ${pid}`;
    if (before && (before.turnId !== turnId || before.pid !== pid)) {
      ended.add(`${before.turnId} ${before.pid}`);
      if (before.turnId === turnId) throw new Error(`Two app-servers ran commands of the turn ${turnId}.`);
      if (order < before.order) throw new Error(`The turn ${turnId} ran a command after a later turn.`);
    }
    if (ended.has(key)) throw new Error(`The turn ${turnId} ran a command again after another turn.`);
    last.set(threadId, { turnId, pid, order });
  }
}

function isResultOf(commandId: string): (event: SessionEvent) => boolean {
  return (event) => event.type === "command.finished" && event.commandId === commandId;
}

export function isEnd(event: SessionEvent): boolean {
  return /^turn\.(?:completed|failed|interrupted)$/.test(event.type);
}
