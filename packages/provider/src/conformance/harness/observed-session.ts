import type { AgentEvent, TerminalEvent } from "../../contract/agent-event.ts";
import type { AgentHandle } from "../../contract/agent-provider.ts";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { ConformanceLimits } from "./conformance-options.ts";
import { failure, assertThat, waitFor } from "./assertions.ts";

/** How a session was opened. */
export type OpenedBy = "spawn" | "resume";

export interface ObservedSessionOptions {
  readonly limits: ConformanceLimits;
  readonly spec: AgentSpec;
  readonly openedBy: OpenedBy;
  /** The check that opened it. */
  readonly checkId: string;
}

/** Reads the events of a handle with time limits, and records them. */
export class ObservedSession {
  readonly handle: AgentHandle;
  readonly events: AgentEvent[] = [];
  readonly spec: AgentSpec;
  readonly openedBy: OpenedBy;
  readonly #checkId: string;
  readonly #limits: ConformanceLimits;
  #reader: AsyncIterator<AgentEvent> | undefined;
  #state: "open" | "ended" | "left" = "open";

  constructor(handle: AgentHandle, { limits, spec, openedBy, checkId }: ObservedSessionOptions) {
    this.handle = handle;
    this.spec = spec;
    this.openedBy = openedBy;
    this.#checkId = checkId;
    this.#limits = limits;
  }

  /** The text of all messages of the agent. */
  get text(): string {
    return this.events.map((event) => (event.kind === "assistant_text" ? event.text : "")).join("");
  }

  /** The first terminal event. */
  get terminal(): TerminalEvent | undefined {
    return this.events.find(isTerminal);
  }

  /** Whether the stream was read to its end. */
  get isComplete(): boolean {
    return this.#state === "ended";
  }

  /** Identifies the session in checks that judge every stream. */
  get label(): string {
    return `the session that ${this.#checkId} opened with ${this.openedBy}()`;
  }

  /** Returns the next event, or undefined at the end. */
  async next(): Promise<AgentEvent | undefined> {
    const after = this.events.at(-1)?.kind;
    const what = after === undefined ? "the first event" : `the event after "${after}"`;
    const { done, value } = await waitFor(what, this.#limits.sessionMs, this.#iterator().next());
    if (done === true) {
      if (this.#state === "open") this.#state = "ended";
      return undefined;
    }
    assertThat(
      this.events.length < this.#limits.events,
      `the stream emitted more than ${this.#limits.events} events`,
    );
    this.events.push(value);
    return value;
  }

  /** Reads until an event matches. */
  async readUntil(what: string, found: (event: AgentEvent) => boolean): Promise<void> {
    for (let event = await this.next(); event; event = await this.next()) if (found(event)) return;
    throw failure(`the stream ended without ${what}; events: ${this.kinds}`);
  }

  /** Reads to the end, and once more after it. */
  async readToEnd(): Promise<this> {
    while (this.#state === "open") await this.next();
    const after = await waitFor("a read after the end", this.#limits.callMs, this.#iterator().next());
    assertThat(after.done === true, "the stream ended and then emitted another event");
    return this;
  }

  /** Stops reading, as `break` in a `for await` loop does. */
  async stopReading(): Promise<void> {
    this.#state = "left";
    const left = this.#iterator().return?.();
    if (left) await waitFor("stopping the reader", this.#limits.stopMs, left);
  }

  async stop(): Promise<void> {
    await waitFor("stop()", this.#limits.stopMs, this.handle.stop());
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
