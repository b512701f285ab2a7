import { setImmediate as nextRound } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  methods,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { untilAborted } from "../contract/until-aborted.ts";
import type { ActivityEvent, ErrorSubtype, ResultEvent, TerminalEvent } from "../contract/agent-event.ts";
import type { AgentHandle, CallOptions } from "../contract/agent-provider.ts";
import { EventStream } from "../contract/event-stream.ts";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { errorEvent, failedResult } from "../contract/session-end.ts";
import type { SessionUpdate } from "./events/session-notification.ts";
import { UpdateMapper } from "./events/update-mapper.ts";
import type { AcpLimits } from "./limits.ts";
import { PermissionDesk } from "./permissions/permission-desk.ts";
import type { SessionPlan } from "./plan/plan-session.ts";
import type { AcpAgent } from "./process/acp-agent.ts";
import { describeFailure, needsLogin } from "./process/describe-failure.ts";
import { within } from "./process/within.ts";
import { endOfPrompt } from "./session-end.ts";

export interface AcpHandleOptions {
  readonly agent: AcpAgent;
  readonly sessionId: string;
  readonly plan: SessionPlan;
  readonly ignored: readonly IgnoredField[];
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly limits: AcpLimits;
  /** What the session had cost before it was resumed, as far as the agent has reported it. */
  readonly earlierUsd?: number | undefined;
  /** Called when the agent goes on with a session that it was told to cancel. */
  readonly onDeaf: () => Promise<void>;
}

/**
 * One prompt of one session. Its answer, `stop`, the signal, the deadline, the agent's death and the provider's shutdown may
 * come in any order; the stream takes the first as the end, and whoever ended it has the agent cancel.
 */
export class AcpHandle implements AgentHandle {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly events: EventStream;
  readonly agent: AcpAgent;
  /** Resolves once the agent works no more for this session. Never rejects. */
  readonly released: Promise<void>;
  readonly #options: AcpHandleOptions;
  readonly #mapper: UpdateMapper;
  readonly #desk: PermissionDesk;
  readonly #over = new AbortController();
  readonly #answered: Promise<void>;
  readonly #letGo = Promise.withResolvers<void>();
  #updated = Promise.withResolvers<void>();
  #announcing: NodeJS.Timeout | undefined;

  constructor(options: AcpHandleOptions) {
    const { agent, sessionId, ignored, plan, timeoutMs, signal } = options;
    this.#options = options;
    this.agent = agent;
    this.sessionId = sessionId;
    this.ignored = ignored;
    this.released = this.#letGo.promise;
    const servers = plan.session.mcpServers.map(({ name }) => name);
    this.#mapper = new UpdateMapper({ servers, earlierUsd: options.earlierUsd });
    this.#desk = new PermissionDesk(plan.policy, plan.session.cwd);
    this.events = new EventStream(
      { kind: "init", sessionId, ignored, raw: agent.info },
      { onAbandoned: () => this.#release() },
    );
    const over = { signal: this.#over.signal };
    signal?.addEventListener(
      "abort",
      () => this.#break("context_cancelled", "The caller's signal fired."),
      over,
    );
    if (timeoutMs !== undefined) this.#endAfter(timeoutMs);
    this.#answered = this.#prompt();
  }

  update(update: SessionUpdate): void {
    this.#push(this.#mapper.map(update));
    this.#updated.resolve();
    this.#updated = Promise.withResolvers();
    if (this.#mapper.hasPending) this.#announceLater();
  }

  async permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { toolCallId } = request.toolCall;
    const call = this.#mapper.mapPermission(request.toolCall);
    const { response, events, denial } = await this.#desk.answer(call, request);
    if (this.events.ended) return PermissionDesk.withdrawn;
    this.#push(events);
    if (denial === undefined) this.#push(this.#mapper.allow(toolCallId));
    else this.#mapper.deny(toolCallId, denial);
    return response;
  }

  /** Tells of a request that nobody here can answer. */
  unknownRequest(method: string): void {
    this.events.push({
      kind: "system",
      subtype: "unhandled_server_request",
      message: `The agent asked for ${method}, which was not offered to it.`,
    });
  }

  /** Steers the running prompt, for agents that have ACP's steering extension. */
  async inject(text: string, { signal }: CallOptions = {}): Promise<void> {
    if (!this.agent.canSteer) {
      const message =
        "This ACP agent does not accept messages while it works. Stop the session and resume it with the message.";
      throw new ProviderError("unsupported", message);
    }
    if (this.events.ended) throw sessionEnded();
    const { injectMs } = this.#options.limits;
    const over = new AbortController();
    try {
      await untilAborted(within("the injection", injectMs, this.#steer(text, over.signal)), signal);
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      const message = `The agent did not accept the message: ${describeFailure(error)}`;
      throw new ProviderError("inject_failed", message, { cause: error });
    } finally {
      // A message that came too late for the caller must not reach the agent later.
      over.abort();
    }
    this.events.push({ kind: "system", subtype: "injected", message: text });
  }

  async stop({ signal }: CallOptions = {}): Promise<void> {
    this.#finish(this.#failed("stopped", "The session was stopped."));
    await untilAborted(this.released, signal);
  }

  /** The agent is gone. */
  crash(why: string): void {
    this.#break("app_server_crashed", why);
  }

  shutdown(): void {
    this.#break("provider_shutdown", "The provider was shut down.");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** An agent without a running turn has not begun yet, or has just ended: its next update tells which. */
  async #steer(text: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.events.ended) throw sessionEnded();
      const updated = this.#updated.promise;
      if (await this.agent.steer(this.sessionId, text)) return;
      await Promise.race([updated, this.#answered]);
    }
  }

  #push(events: readonly ActivityEvent[]): void {
    for (const event of events) this.events.push(event);
  }

  /** A call that stays pending is shown after a while, with the input that is known. */
  #announceLater(): void {
    if (this.#announcing !== undefined || this.#over.signal.aborted) return;
    this.#announcing = setTimeout(() => {
      this.#announcing = undefined;
      if (!this.events.ended) this.#push(this.#mapper.announcePending());
    }, this.#options.limits.pendingToolMs);
    this.#announcing.unref();
  }

  async #prompt(): Promise<void> {
    const { agent, sessionId } = this;
    const { plan } = this.#options;
    const prompt = [{ type: "text" as const, text: plan.prompt }];
    try {
      const response = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
      const { message, cost, failed } = this.#mapper;
      const end = endOfPrompt(response, { message, cost, failed });
      // Most agents count their tokens here for the first time.
      if (!isDeepStrictEqual(end.cost, cost))
        this.events.push({ kind: "usage", cost: end.cost, raw: response });
      this.#finish(end);
    } catch (error) {
      // The agent's death is told by `crash` with its last words, which take a moment to be known.
      if (agent.closed) return;
      const reason = error instanceof RequestError ? String(error.code) : "request_failed";
      const subtype = needsLogin(error) ? "authentication_failed" : "execution_failed";
      this.#finish(this.#failed(subtype, describeFailure(error), reason));
    }
  }

  #endAfter(timeoutMs: number): void {
    const timer = setTimeout(() => {
      this.#finish(this.#failed("deadline_exceeded", `It took longer than ${timeoutMs} ms.`));
    }, timeoutMs);
    this.#over.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  #failed(subtype: ErrorSubtype, why: string, reason?: string): ResultEvent {
    const { message, cost } = this.#mapper;
    return failedResult(subtype, why, { message, cost, ...(reason !== undefined && { reason }) });
  }

  #break(code: Extract<TerminalEvent, { kind: "error" }>["code"], message: string): void {
    this.#finish(errorEvent(code, message, this.#mapper.cost));
  }

  #finish(end: TerminalEvent): void {
    if (this.events.ended) return;
    clearTimeout(this.#announcing);
    this.#push(this.#mapper.closeOpen("The session ended before this did."));
    this.events.end(end);
    this.#release();
  }

  #release(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    void this.#rest().finally(() => this.#letGo.resolve());
  }

  /** Until the agent rests: it answers a prompt that was cancelled, or its connection breaks. */
  async #rest(): Promise<void> {
    const { agent, sessionId } = this;
    const { limits, onDeaf } = this.#options;
    // An answer that is here already needs no cancelling.
    const pending = await Promise.race([this.#answered.then(() => false), nextRound().then(() => true)]);
    try {
      if (pending) await agent.cancel(sessionId);
      if (pending) await within("the agent's rest", limits.cancelMs, this.#answered);
    } catch {
      await onDeaf();
    }
    await agent.closeSession(sessionId, limits.closeMs);
  }
}

function sessionEnded(): ProviderError {
  return new ProviderError(
    "session_ended",
    "The session has ended. Resume it with the message as its prompt.",
  );
}
