import {
  type Codex,
  CodexError,
  type CodexErrorCode,
  type CodexEvent,
  type Thread,
  type Turn,
  type TurnEndEvent,
  type UsageUpdatedEvent,
} from "codexkit";
import type { AgentErrorCode, AgentEvent, Subagent, TerminalEvent } from "../../contract/agent-event.ts";
import type { AgentHandle, CallOptions } from "../../contract/agent-provider.ts";
import { EventStream } from "../../contract/event-stream.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import type { Pricer } from "../../contract/prices.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import { errorEvent } from "../../contract/session-end.ts";
import { EventMapper } from "../events/event-mapper.ts";
import type { SpawnPlan } from "../plan/plan-spawn.ts";
import { toProviderError } from "../translate-error.ts";
import { untilAborted } from "../../contract/until-aborted.ts";
import { type Closing, type CloseReason, endOfClosed, endOfFailure, endOfTurn } from "./session-end.ts";
import { SessionMeter } from "./session-meter.ts";
import { findAgent, type Listener, type Switchboard } from "./switchboard.ts";
import { unloadThread } from "./unload-thread.ts";

export interface CodexHandleOptions {
  readonly codex: Codex;
  readonly thread: Thread;
  readonly plan: SpawnPlan;
  readonly board: Switchboard;
  /** How long codex may take to stop a turn before the session ends without its word. */
  readonly interruptTimeoutMs: number;
  /** For the whole life of the session. */
  readonly signal: AbortSignal | undefined;
  readonly pricer?: Pricer | undefined;
}

const MESSAGES: Readonly<Record<Exclude<CloseReason, "max_turns" | "budget_exceeded">, string>> = {
  stopped: "The session was stopped.",
  cancelled: "The signal of the session fired.",
  deadline: "The session used up its timeoutMs.",
  shutdown: "The provider was shut down.",
};

/**
 * One turn of one thread. A turn that ends, `stop`, the signal, the limits of the spec, a crash and the provider's shutdown may
 * come in any order and at once; whichever comes first at `#finish` is the end, and the others find it done.
 */
export class CodexHandle implements AgentHandle, Listener {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly events: AsyncIterable<AgentEvent>;
  readonly thread: Thread;
  /** Resolves once Codex has let go of the session; never rejects. */
  readonly released: Promise<void>;
  readonly #options: CodexHandleOptions;
  readonly #stream: EventStream;
  readonly #mapper = new EventMapper();
  readonly #meter: SessionMeter;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #letGo = Promise.withResolvers<void>();
  /** The codex that the turn runs on: after a crash it may be another. */
  #pid: number | undefined;
  #turn: Turn | undefined;
  #turnId: string | undefined;
  #closing: Closing | undefined;
  #finished = false;

  constructor(options: CodexHandleOptions) {
    const { codex, thread, plan, board, signal } = options;
    this.#options = options;
    this.thread = thread;
    this.sessionId = thread.id;
    this.ignored = plan.ignored;
    this.released = this.#letGo.promise;
    this.#meter = new SessionMeter({
      ...plan.budget,
      pricer: options.pricer,
      modelOf: (threadId) => modelOf(thread, threadId),
    });
    this.#stream = new EventStream(
      { kind: "init", sessionId: thread.id, ignored: plan.ignored, raw: thread.settings },
      { onAbandoned: () => this.#closeBecause("stopped") },
    );
    this.events = this.#stream;
    this.#pid = codex.pid;
    board.add(this);
    signal?.addEventListener("abort", this.#onAbort);
    const { timeoutMs } = plan.budget;
    if (timeoutMs !== undefined) this.#later(timeoutMs, () => this.#closeBecause("deadline"));
  }

  /** Whether the last event was given. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Starts the turn; rejects when Codex does not take it, and the session is over then. */
  async begin(): Promise<void> {
    const { plan, signal } = this.#options;
    const turn = this.thread.run(plan.prompt, plan.turn);
    this.#turn = turn;
    void this.#watch(turn);
    await untilAborted(turn.id, signal);
    this.#pid = this.#options.codex.pid;
  }

  hear(event: CodexEvent, author?: Subagent): void {
    if (this.#finished) return;
    const limit = this.#meter.record(event);
    for (const said of this.#mapper.map(event, author)) this.#stream.push(said);
    if (this.#meter.counts(event)) this.#reportUsage(event, author);
    if (limit) this.#close(limit);
    if (author) return;
    if (event.type === "turn.started") this.#turnId ??= event.turnId;
    // The end of an earlier turn, whose session did not wait for it, is not this one's.
    if (isTurnEnd(event) && event.turnId === this.#turnId) this.#endTurn(event);
  }

  fail(error: unknown): void {
    this.#finish(errorEvent("provider_failed", String(error), this.#meter.cost, error));
  }

  async inject(text: string, { signal }: CallOptions = {}): Promise<void> {
    const turn = this.#finished || this.#closing ? undefined : this.#turn;
    if (!turn) throw sessionEnded(this.sessionId);
    try {
      await turn.steer(text, signal ? { signal } : {});
    } catch (error) {
      if (error instanceof CodexError && HAS_ENDED.has(error.code)) throw sessionEnded(this.sessionId, error);
      throw toProviderError(error, "inject_failed");
    }
  }

  async stop({ signal }: CallOptions = {}): Promise<void> {
    this.#closeBecause("stopped");
    await untilAborted(this.released, signal);
  }

  /** Ends the session without a word to Codex, which is about to end too. */
  shutdown(): void {
    this.#finish(endOfClosed({ reason: "shutdown", message: MESSAGES.shutdown }, this.#meter.cost));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  readonly #onAbort = (): void => this.#closeBecause("cancelled");

  #closeBecause(reason: keyof typeof MESSAGES): void {
    this.#close({ reason, message: MESSAGES[reason] });
  }

  /** Has Codex stop; the session ends when it says that it did, or after a while. */
  #close(closing: Closing): void {
    if (this.#finished || this.#closing) return;
    this.#closing = closing;
    const giveUp = (): void => this.#finish(endOfClosed(closing, this.#meter.cost));
    this.#later(this.#options.interruptTimeoutMs, giveUp);
    if (this.#turn) this.#turn.interrupt().catch(giveUp);
    else giveUp();
  }

  /** For the turns whose end is not among the events: those that never began. */
  async #watch(turn: Turn): Promise<void> {
    try {
      const result = await turn.result();
      const type = result.status === "interrupted" ? "turn.interrupted" : "turn.completed";
      const { threadId, turnId } = result;
      setImmediate(() => this.#endTurn({ type, threadId, turnId, result }));
    } catch (error) {
      // Events that came with the failure go first.
      setImmediate(() => {
        if (error instanceof CodexError) this.#finish(endOfFailure(error, this.#meter.cost));
        else this.fail(error);
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
    for (const result of this.#mapper.closeOpen("The session ended before this did."))
      this.#stream.push(result);
    this.#stream.end(end);
    void this.#release(end);
  }

  async #release(end: TerminalEvent): Promise<void> {
    const { codex, board } = this.#options;
    try {
      await this.thread.close();
      // A codex that died has let go of everything, and must not be started again for that.
      const isDead = end.kind === "error" && DEAD.has(end.code);
      if (!isDead && codex.pid === this.#pid) await unloadThread(codex, this.sessionId);
    } catch {
      // It died meanwhile.
    } finally {
      board.remove(this);
      this.#letGo.resolve();
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

const DEAD: ReadonlySet<AgentErrorCode> = new Set(["app_server_crashed", "provider_shutdown"]);

const HAS_ENDED: ReadonlySet<CodexErrorCode> = new Set([
  "turn_not_active",
  "turn_not_found",
  "app_server_crashed",
  "closed",
]);

/** The model of a session's thread or of an agent below it; an agent has its parent's unless it was given another. */
function modelOf(thread: Thread, threadId: string): string {
  const agent = threadId === thread.id ? undefined : findAgent(thread.agents, threadId);
  if (!agent) return thread.settings.model;
  return agent.model ?? modelOf(thread, agent.parentThreadId);
}

function isTurnEnd(event: CodexEvent): event is TurnEndEvent {
  return event.type === "turn.completed" || event.type === "turn.failed" || event.type === "turn.interrupted";
}

function sessionEnded(sessionId: string, cause?: unknown): ProviderError {
  const message = `Session ${sessionId} has ended: nothing can be told to it. Resume it with the text as its prompt.`;
  return new ProviderError("session_ended", message, { cause });
}
