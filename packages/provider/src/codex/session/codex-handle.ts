import {
  type Codex,
  CodexError,
  type CodexErrorCode,
  type CodexEvent,
  isTurnEnd,
  type Thread,
  type Turn,
  type TurnEndEvent,
  type UsageUpdatedEvent,
} from "codexkit";
import type { Pricer } from "codexkit/options";
import type { AgentErrorCode, AgentEvent, Subagent, TerminalEvent } from "../../contract/agent-event.ts";
import type { AgentHandle, ProviderCallOptions } from "../../contract/agent-provider.ts";
import { EventStream } from "../../contract/event-stream.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import { errorEvent } from "../../contract/session-end.ts";
import { EventMapper } from "../events/event-mapper.ts";
import type { SpawnPlan } from "../plan/plan-spawn.ts";
import { toProviderError } from "../errors/translate-error.ts";
import { raceCancel } from "../../contract/cancelled.ts";
import { type Closing, type CloseReason, endOfClosed, endOfFailure, endOfTurn } from "./session-end.ts";
import { SessionMeter } from "./session-meter.ts";
import { Subagents } from "./subagents.ts";
import { unloadThread } from "./unload-thread.ts";

export interface CodexHandleOptions {
  readonly codex: Codex;
  readonly thread: Thread;
  /** The events of the thread and its subagents, read from the moment the thread was opened. */
  readonly threadEvents: AsyncIterable<CodexEvent>;
  readonly plan: SpawnPlan;
  /** How long Codex may take to interrupt a turn before the session ends without it. */
  readonly interruptTimeoutMs: number;
  /** Ends the session at any time. */
  readonly signal: AbortSignal | undefined;
  readonly pricer?: Pricer | undefined;
}

const MESSAGES: Readonly<Record<Exclude<CloseReason, "max_turns" | "budget_exceeded">, string>> = {
  stopped: "The session was stopped.",
  cancelled: "The signal of the session was aborted.",
  deadline: "The session used up its timeoutMs.",
  shutdown: "The provider was shut down.",
};

/**
 * One turn of one thread. The end of the turn, `stop`, the signal, the limits of the spec, a crash and the provider's shutdown
 * may come in any order. The first one to reach `#finish` ends the session; the others have no effect.
 */
export class CodexHandle implements AgentHandle {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly events: AsyncIterable<AgentEvent>;
  readonly thread: Thread;
  /** Resolves once Codex has released the session. Never rejects. */
  readonly released: Promise<void>;
  readonly #options: CodexHandleOptions;
  readonly #stream: EventStream;
  readonly #mapper = new EventMapper();
  readonly #meter: SessionMeter;
  readonly #subagents: Subagents;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #released = Promise.withResolvers<void>();
  /** PID of the Codex that runs the turn. A later Codex has another PID. */
  #pid: number | undefined;
  #turn: Turn | undefined;
  #turnId: string | undefined;
  #closing: Closing | undefined;
  #finished = false;

  constructor(options: CodexHandleOptions) {
    const { codex, thread, threadEvents, plan, signal } = options;
    this.#options = options;
    this.thread = thread;
    this.sessionId = thread.id;
    this.ignored = plan.ignored;
    this.released = this.#released.promise;
    this.#subagents = new Subagents(thread);
    this.#meter = new SessionMeter({
      ...plan.budget,
      pricer: options.pricer,
      modelOf: (threadId) => this.#subagents.modelOf(threadId),
    });
    this.#stream = new EventStream(
      { kind: "init", sessionId: thread.id, ignored: plan.ignored, raw: thread.settings },
      { onAbandoned: () => this.#closeBecause("stopped") },
    );
    this.events = this.#stream;
    this.#pid = codex.pid;
    void this.#read(threadEvents);
    signal?.addEventListener("abort", this.#onAbort);
    const { timeoutMs } = plan.budget;
    if (timeoutMs !== undefined) this.#later(timeoutMs, () => this.#closeBecause("deadline"));
  }

  /** Whether the terminal event has been emitted. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Starts the turn. Rejects if Codex refuses it; the session has then ended. */
  async begin(): Promise<void> {
    const { plan, signal } = this.#options;
    const turn = this.thread.run(plan.prompt, plan.turn);
    this.#turn = turn;
    void this.#watch(turn);
    await raceCancel(turn.id, signal);
    this.#pid = this.#options.codex.pid;
  }

  async inject(text: string, { signal }: ProviderCallOptions = {}): Promise<void> {
    const turn = this.#finished || this.#closing ? undefined : this.#turn;
    if (!turn) throw sessionEnded(this.sessionId);
    try {
      await turn.steer(text, signal ? { signal } : {});
    } catch (error) {
      if (error instanceof CodexError && TURN_HAS_ENDED.has(error.code))
        throw sessionEnded(this.sessionId, error);
      throw toProviderError(error, "inject_failed");
    }
  }

  async stop({ signal }: ProviderCallOptions = {}): Promise<void> {
    this.#closeBecause("stopped");
    await raceCancel(this.released, signal);
  }

  /** Ends the session without interrupting the turn, because Codex is about to end. */
  shutdown(): void {
    this.#finish(endOfClosed({ reason: "shutdown", message: MESSAGES.shutdown }, this.#meter.cost));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #read(events: AsyncIterable<CodexEvent>): Promise<void> {
    for await (const event of events) {
      try {
        this.#receive(event);
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  #receive(event: CodexEvent): void {
    if (this.#finished || event.threadId === undefined) return;
    const subagent = this.#subagents.find(event.threadId);
    const limit = this.#meter.record(event);
    for (const activity of this.#mapper.map(event, subagent)) this.#stream.push(activity);
    if (this.#meter.counts(event)) this.#reportUsage(event, subagent);
    if (limit) this.#close(limit);
    if (subagent) return;
    if (event.type === "turn.started") this.#turnId ??= event.turnId;
    // An earlier turn whose session did not wait for its end may end now.
    if (isTurnEnd(event) && event.turnId === this.#turnId) this.#endTurn(event);
  }

  #fail(error: unknown): void {
    this.#finish(errorEvent("provider_failed", String(error), this.#meter.cost, error));
  }

  readonly #onAbort = (): void => this.#closeBecause("cancelled");

  #closeBecause(reason: keyof typeof MESSAGES): void {
    this.#close({ reason, message: MESSAGES[reason] });
  }

  /** Interrupts the turn. The session ends when Codex confirms it, or after a timeout. */
  #close(closing: Closing): void {
    if (this.#finished || this.#closing) return;
    this.#closing = closing;
    const giveUp = (): void => this.#finish(endOfClosed(closing, this.#meter.cost));
    this.#later(this.#options.interruptTimeoutMs, giveUp);
    if (this.#turn) this.#turn.interrupt().catch(giveUp);
    else giveUp();
  }

  /** Handles turns that end without an event, because they never started. */
  async #watch(turn: Turn): Promise<void> {
    try {
      const result = await turn.result();
      const type = result.status === "interrupted" ? "turn.interrupted" : "turn.completed";
      const { threadId, turnId } = result;
      setImmediate(() => this.#endTurn({ type, threadId, turnId, result }));
    } catch (error) {
      // Events that arrived with the failure are delivered first.
      setImmediate(() => {
        if (error instanceof CodexError) this.#finish(endOfFailure(error, this.#meter.cost));
        else this.#fail(error);
      });
    }
  }

  #endTurn(end: TurnEndEvent): void {
    this.#finish(endOfTurn(end, this.#meter.cost, this.#closing));
  }

  #finish(end: TerminalEvent): void {
    if (this.#finished) return;
    this.#finished = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    for (const result of this.#mapper.closeOpen("The session ended before the tool did."))
      this.#stream.push(result);
    this.#stream.end(end);
    void this.#release(end);
  }

  async #release(end: TerminalEvent): Promise<void> {
    const { codex } = this.#options;
    try {
      await this.thread.close();
      // A Codex that has ended holds no resources, and must not be restarted for this.
      const hasEnded = end.kind === "error" && CODEX_ENDED.has(end.code);
      if (!hasEnded && codex.pid === this.#pid) await unloadThread(codex, this.sessionId);
    } catch {
      // Codex ended meanwhile.
    } finally {
      this.#released.resolve();
    }
  }

  #reportUsage(event: UsageUpdatedEvent, subagent: Subagent | undefined): void {
    const model = this.#meter.modelOf(event.threadId);
    this.#stream.push({
      kind: "usage",
      cost: this.#meter.cost,
      ...(model === undefined ? {} : { model }),
      ...(subagent ? { subagent } : {}),
      raw: event,
    });
  }

  #later(ms: number, run: () => void): void {
    this.#timers.add(setTimeout(run, ms));
  }
}

const CODEX_ENDED: ReadonlySet<AgentErrorCode> = new Set(["app_server_crashed", "provider_shutdown"]);

const TURN_HAS_ENDED: ReadonlySet<CodexErrorCode> = new Set([
  "turn_not_active",
  "turn_not_found",
  "app_server_crashed",
  "closed",
]);

function sessionEnded(sessionId: string, cause?: unknown): ProviderError {
  const message = `Session ${sessionId} has ended: it accepts no more text. Resume it with the text as its prompt.`;
  return new ProviderError("session_ended", message, { cause });
}
