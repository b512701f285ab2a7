import type { AgentEvent } from "../../contract/agent-event.ts";
import { isTerminal, type ObservedSession } from "./observed-session.ts";
import { assertThat } from "./assertions.ts";

/** Exactly one `init`, first, with the session id of the handle. */
export function checkInit({ events, handle }: ObservedSession): void {
  const inits = events.filter((event) => event.kind === "init");
  assertThat(events.length > 0, "the stream ended without any event");
  assertThat(events[0]?.kind === "init", `the first event should be "init", but is "${events[0]?.kind}"`);
  assertThat(inits.length === 1, `there should be one "init", but there are ${inits.length}`);
  const [init] = inits;
  assertThat(
    init?.sessionId === handle.sessionId && handle.sessionId !== "",
    `"init" has the session id "${init?.sessionId}", but the handle has "${handle.sessionId}"`,
  );
}

/** Exactly one `result` or `error`. */
export function checkOneTerminal({ events, kinds }: ObservedSession): void {
  const count = events.filter(isTerminal).length;
  assertThat(
    count === 1,
    `there should be one terminal event ("result" or "error"), but there are ${count}: ${kinds}`,
  );
}

/** Nothing after the first `result` or `error`. A second terminal event is a separate fault. */
export function checkNothingAfterTerminal({ events }: ObservedSession): void {
  const at = events.findIndex(isTerminal);
  const late = at === -1 ? [] : events.slice(at + 1).filter((event) => !isTerminal(event));
  assertThat(
    late.length === 0,
    () => `after "${events[at]?.kind}" came ${late.map(({ kind }) => kind).join(", ")}`,
  );
}

/** All rules, for a stream that was read to its end. */
export function checkStream(session: ObservedSession): void {
  checkInit(session);
  checkOneTerminal(session);
  checkNothingAfterTerminal(session);
}

/** The expected ending, such as `result stopped`. */
export function checkEnding(session: ObservedSession, expected: string): void {
  const { terminal } = session;
  const ended = terminal ? wordsFor(terminal) : "no terminal event";
  assertThat(
    ended === expected,
    () => `the session should end with "${expected}", but ended with "${ended}"`,
  );
}

function wordsFor(event: Extract<AgentEvent, { kind: "result" | "error" }>): string {
  if (event.kind === "error") return `error ${event.code}`;
  return event.success ? "result success" : `result ${event.errorSubtype}`;
}
