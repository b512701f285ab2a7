import type { AgentEvent } from "../contract/agent-event.ts";
import { isTerminal, type WatchedSession } from "./watched-session.ts";
import { holds } from "./within.ts";

/** Exactly one `init`, first, which names the session of the handle. */
export function beginsWithInit({ events, handle }: WatchedSession): void {
  const inits = events.filter((event) => event.kind === "init");
  holds(events.length > 0, "the stream ended without any event");
  holds(events[0]?.kind === "init", `the first event should be "init", and is "${events[0]?.kind}"`);
  holds(inits.length === 1, `there should be one "init", and there are ${inits.length}`);
  const [init] = inits;
  holds(
    init?.sessionId === handle.sessionId && handle.sessionId !== "",
    `"init" names the session "${init?.sessionId}", and the handle "${handle.sessionId}"`,
  );
}

/** Exactly one `result` or `error`. */
export function hasOneTerminal({ events, kinds }: WatchedSession): void {
  const count = events.filter(isTerminal).length;
  holds(
    count === 1,
    `there should be one last event ("result" or "error"), and there are ${count}: ${kinds}`,
  );
}

/** Nothing but the end after the first `result` or `error`. A second one is another fault. */
export function endsAfterTerminal({ events }: WatchedSession): void {
  const at = events.findIndex(isTerminal);
  const late = at === -1 ? [] : events.slice(at + 1).filter((event) => !isTerminal(event));
  holds(
    late.length === 0,
    () => `after "${events[at]?.kind}" came ${late.map(({ kind }) => kind).join(", ")}`,
  );
}

/** The whole law, for a stream that was read to its end. */
export function obeysLaw(session: WatchedSession): void {
  beginsWithInit(session);
  hasOneTerminal(session);
  endsAfterTerminal(session);
}

/** How a stream should have ended, such as `result stopped`. */
export function endedWith(session: WatchedSession, expected: string): void {
  const { terminal } = session;
  const ended = terminal ? wordsFor(terminal) : "no last event";
  holds(ended === expected, () => `it should end with "${expected}", and ended with "${ended}"`);
}

function wordsFor(event: Extract<AgentEvent, { kind: "result" | "error" }>): string {
  if (event.kind === "error") return `error ${event.code}`;
  return event.success ? "result success" : `result ${event.errorSubtype}`;
}
