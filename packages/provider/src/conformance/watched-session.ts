import type { AgentEvent, TerminalEvent } from "../contract/agent-event.ts";
import type { AgentHandle } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { ConformanceLimits } from "./conformance-options.ts";
import { failure, holds, within } from "./within.ts";

/** How a session was opened. */
export type OpenedBy = "spawn" | "resume";

export interface WatchedSessionOptions {
  readonly limits: ConformanceLimits;
  readonly spec: AgentSpec;
  readonly openedBy: OpenedBy;
  /** The check that opened it. */
  readonly checkId: string;
}

/** A handle under observation: reads its events within limits and keeps them. */
export class WatchedSession {
  readonly handle: AgentHandle;
  readonly events: AgentEvent[] = [];
  readonly spec: AgentSpec;
  readonly openedBy: OpenedBy;
  readonly #checkId: string;
  readonly #limits: ConformanceLimits;
  #reader: AsyncIterator<AgentEvent> | undefined;
  #state: "open" | "ended" | "left" = "open";

  constructor(handle: AgentHandle, { limits, spec, openedBy, checkId }: WatchedSessionOptions) {
    this.handle = handle;
    this.spec = spec;
    this.openedBy = openedBy;
    this.#checkId = checkId;
    this.#limits = limits;
  }

  /** Everything that the agent said, of all messages. */
  get text(): string {
    return this.events.map((event) => (event.kind === "assistant_text" ? event.text : "")).join("");
  }

  /** The first event that is one of the last. */
  get terminal(): TerminalEvent | undefined {
    return this.events.find(isTerminal);
  }

  /** Whether the stream was read to its end, by a reader that stayed. */
  get isComplete(): boolean {
    return this.#state === "ended";
  }

  /** For reports of checks that judge the streams of others. */
  get label(): string {
    return `the session that ${this.#checkId} opened with ${this.openedBy}()`;
  }

  /** The next event, or undefined at the end. */
  async next(): Promise<AgentEvent | undefined> {
    const after = this.events.at(-1)?.kind;
    const what = after === undefined ? "the first event" : `the event after "${after}"`;
    const { done, value } = await within(what, this.#limits.sessionMs, this.#iterator().next());
    if (done === true) {
      if (this.#state === "open") this.#state = "ended";
      return undefined;
    }
    holds(
      this.events.length < this.#limits.events,
      `the stream gave more than ${this.#limits.events} events`,
    );
    this.events.push(value);
    return value;
  }

  /** Reads up to the first event that is looked for. */
  async until(what: string, found: (event: AgentEvent) => boolean): Promise<void> {
    for (let event = await this.next(); event; event = await this.next()) if (found(event)) return;
    throw failure(`the stream ended without ${what}; it gave: ${this.kinds}`);
  }

  /** Reads on to the end, and tries to read once more after it. */
  async toEnd(): Promise<this> {
    while (this.#state === "open") await this.next();
    const after = await within("reading after the end", this.#limits.callMs, this.#iterator().next());
    holds(after.done === true, "the stream ended and then gave another event");
    return this;
  }

  /** Reads as `break` out of a loop does: some events, and then no more. */
  async leave(): Promise<void> {
    this.#state = "left";
    const left = this.#iterator().return?.();
    if (left) await within("leaving the events", this.#limits.stopMs, left);
  }

  async stop(): Promise<void> {
    await within("stop()", this.#limits.stopMs, this.handle.stop());
  }

  get kinds(): string {
    return this.events.map(({ kind }) => kind).join(", ") || "nothing";
  }

  #iterator(): AsyncIterator<AgentEvent> {
    return (this.#reader ??= this.handle.events[Symbol.asyncIterator]());
  }
}

export function isTerminal(event: AgentEvent): event is TerminalEvent {
  return event.kind === "result" || event.kind === "error";
}
