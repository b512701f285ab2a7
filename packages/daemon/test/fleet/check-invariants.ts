import type { ScriptRequest } from "@codexkit/scripted-model";
import { expect } from "vitest";
import type { SessionEvent } from "../../src/api/event.ts";
import { assertGapless } from "../database-fixture.ts";
import type { CommandRun } from "./fleet.ts";
import type { FleetClient } from "./fleet-client.ts";

/** Counts of what was compared, so that a test can make sure that there was something. */
export interface Checked {
  /** Number of completed items that the thread contains as the model sees it. */
  items: number;
  /** Number of completed commands whose output did not reach the model, because a crash interrupted the turn. */
  abortedOutputs: number;
}

const SHOWN_CHARACTERS = 200;
/** The system measures start times of processes in units of this duration. */
const CLOCK_MS = 20;

export interface CheckOptions {
  /** How many checks of a session may be cut off by faults of other scenarios, plus one. Default: 1. */
  readonly attempts?: number;
}

/** The beginning of the message with which Codex replaces a thread. */
const SUMMARY = "Another language model started to solve this problem";

let checks = 0;

/**
 * Checks what must hold once the faults of these sessions have ended. Faults of other scenarios may still occur on the same nodes.
 * Sends one more message to every session: the model request for it contains the whole thread.
 */
export async function checkInvariants(
  client: FleetClient,
  { attempts = 1 }: CheckOptions = {},
): Promise<Checked> {
  const checked: Checked = { items: 0, abortedOutputs: 0 };
  const journals = await Promise.all(
    client.sessions.map(async ({ id }) => {
      await client.idle(id);
      const text = await sendCheck(client, id, attempts);
      await client.idle(id);
      const events = await client.storedEvents(id);
      await client.caughtUp(id, events.at(-1)?.seq ?? 0);
      checkJournal(client, id, events);
      const { threadId } = await client.session(id);
      checkThread(client, { sessionId: id, threadId, text, events }, checked);
      return { threadId, events };
    }),
  );
  const runs = await client.fleet.commandRuns();
  for (const journal of journals) checkCommandRuns(runs, journal);
  return checked;
}

/** Sends a message and waits for its turn to complete. Sends another one if the turn was cut off. Returns the text. */
async function sendCheck(client: FleetClient, sessionId: string, attempts: number): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    checks += 1;
    const text = `say check${checks}`;
    const sent = await client.send(sessionId, text);
    const { state, result, problem } = await client.finished(sent);
    expect(state, `state of "${text}": ${JSON.stringify(problem)}`).toBe("done");
    const end = await client.event(
      sessionId,
      (event) => isEnd(event) && "turnId" in event && event.turnId === result?.["turnId"],
    );
    if (end.type === "turn.completed") return text;
    if (attempt === attempts) throw new Error(`The turns of ${attempt} checks of ${sessionId} were cut off.`);
    await client.idle(sessionId);
  }
}

function checkJournal(client: FleetClient, sessionId: string, events: readonly SessionEvent[]): void {
  assertGapless(events);
  let epoch = 0;
  for (const event of events) {
    if (event.epoch < epoch)
      throw new Error(`Event ${event.seq} of ${sessionId} has epoch ${event.epoch} after ${epoch}.`);
    epoch = event.epoch;
  }
  for (const command of [...client.sent, ...client.compactions]) {
    if (command.sessionId !== sessionId) continue;
    const results = events.filter(isResultOf(command.commandId));
    expect(results, `results of ${JSON.stringify(command)}`).toHaveLength(1);
  }
  const ends = events.filter(isEnd).map((event) => "turnId" in event && event.turnId);
  expect(ends, `ends of turns in ${sessionId}`).toEqual([...new Set(ends)]);
  for (const reader of client.readers) {
    if (reader.sessionId !== sessionId) continue;
    const got = reader.events.filter(({ seq }) => seq <= (events.at(-1)?.seq ?? 0));
    const identify = ({ seq, type, epoch: of }: SessionEvent): unknown[] => [seq, type, of];
    expect(got.map(identify), `events of ${sessionId} on ${reader.node}`).toEqual(events.map(identify));
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
  const isOwn = (event: SessionEvent): boolean => "threadId" in event && event.threadId === threadId;
  // A summary replaces all but the user's messages.
  const compacted = events.findLast(
    (event) => isOwn(event) && event.type === "item.completed" && event.item.type === "contextCompaction",
  );
  // A fork inherits the summary of its base, but not the item that reports it.
  const isSummarized = texts.some((text) => text.includes(SUMMARY));
  const inherited = events.findLast((event) => "recovered" in event && event.recovered === true);
  const from = compacted?.seq ?? (isSummarized ? (inherited?.seq ?? 0) : 0);
  const usages = events.filter((event) => event.type === "usage.updated" && isOwn(event));
  for (const event of events) {
    if (event.type !== "item.completed" || !isOwn(event) || event.seq < from) continue;
    if (revertedTurns.has(event.turnId) || event.turnId === request.turnId) continue;
    const { item } = event;
    const { turnId } = event;
    // A node that continues the thread repeats its last usage, after the end of the turn that was cut off.
    const end = events.find((one) => isEnd(one) && "turnId" in one && one.turnId === turnId);
    const isGuaranteed = usages.some(
      (usage) =>
        "turnId" in usage &&
        usage.turnId === turnId &&
        usage.seq > event.seq &&
        usage.seq < (end?.seq ?? Number.POSITIVE_INFINITY),
    );
    if (item.type === "agentMessage" && item.text !== "") {
      const { text } = item;
      if (!texts.some((shown) => shown.includes(text))) fail(`The thread of ${sessionId} lacks "${text}".`);
      checked.items += 1;
    }
    if (item.type === "commandExecution" && item.status === "completed") {
      const output = request.output(item.id);
      if (!output) fail(`The thread of ${sessionId} lacks the command ${item.id}.`);
      else if (output.text.includes(`ran ${item.id}`)) checked.items += 1;
      else if (isGuaranteed)
        fail(
          `The thread of ${sessionId} lacks the output of ${item.id}, after which its usage was reported.`,
        );
      else checked.abortedOutputs += 1;
    }
  }
}

/** Formats what the model sees of a thread, and what clients see. */
function describe(request: ScriptRequest, events: readonly SessionEvent[]): string {
  const input = request.input.map(({ type, role, content, output }) =>
    [type, role, JSON.stringify(content ?? output ?? "").slice(0, SHOWN_CHARACTERS)].join(" "),
  );
  return `The model sees:\n${input.join("\n")}\nThe journal has:\n${describeEvents(events)}`;
}

function describeEvents(events: readonly SessionEvent[]): string {
  return events
    .map(({ seq, epoch, at, type, ...about }) =>
      [seq, epoch, at, type, JSON.stringify(about).slice(0, SHOWN_CHARACTERS)].join(" "),
    )
    .join("\n");
}

/**
 * Checks that no two app-servers act for one session: one app-server runs all commands of a turn, turns don't overlap, and no
 * app-server starts a command after another node has taken over its session.
 */
function checkCommandRuns(
  all: readonly CommandRun[],
  { threadId, events }: { readonly threadId: string | null; readonly events: readonly SessionEvent[] },
): void {
  const runs = all.filter((run) => run.threadId === threadId && !isApproved(run.callId, events));
  const starts = new Map<string, number>();
  for (const event of events) if (event.type === "turn.started") starts.set(event.turnId, event.seq);
  const moves = events.flatMap((event) =>
    event.type === "session.moved" && event.from !== event.to ? [event] : [],
  );
  const servers = new Map<string, string>();
  let newest = 0;
  for (const run of runs) {
    const { turnId, pid, callId, startedAt } = run;
    const started = starts.get(turnId) ?? newest;
    if ((servers.get(turnId) ?? pid) !== pid)
      throw new Error(`Two app-servers ran commands of the turn ${turnId}.`);
    servers.set(turnId, pid);
    if (started < newest) throw new Error(`The turn ${turnId} ran the command ${callId} after a later turn.`);
    newest = started;
    const lost = moves.find(({ seq, at }) => seq > started && startedAt > at + CLOCK_MS);
    if (lost) {
      throw new Error(
        `${callId} was started ${startedAt - lost.at} ms after its session had moved from ${lost.from} to ${lost.to}. Commands: ${JSON.stringify(runs)}. Journal:\n${describeEvents(events)}`,
      );
    }
  }
}

/** Whether a person had to approve the command. If its process has ended by then, the next owner runs it for the former turn. */
function isApproved(callId: string, events: readonly SessionEvent[]): boolean {
  return events.some(
    (event) => event.type === "approval.requested" && JSON.stringify(event).includes(`"${callId}"`),
  );
}

function isResultOf(commandId: string): (event: SessionEvent) => boolean {
  return (event) => event.type === "command.finished" && event.commandId === commandId;
}

export function isEnd(event: SessionEvent): boolean {
  return /^turn\.(?:completed|failed|interrupted)$/.test(event.type);
}
