import { setImmediate as nextRound } from "node:timers/promises";
import {
  methods,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { untilAborted } from "../contract/until-aborted.ts";
import type { TerminalEvent } from "../contract/agent-event.ts";
import type { AgentHandle, CallOptions } from "../contract/agent-provider.ts";
import { EventStream } from "../contract/event-stream.ts";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { errorEvent } from "../contract/session-end.ts";
import type { SessionUpdate } from "./events/session-notification.ts";
import { mergeToolCall } from "./events/tool-call.ts";
import { UpdateMapper } from "./events/update-mapper.ts";
import type { AcpLimits } from "./limits.ts";
import { PermissionDesk } from "./permissions/permission-desk.ts";
import type { SessionPlan } from "./plan/plan-session.ts";
import type { AcpAgent } from "./process/acp-agent.ts";
import { within } from "./process/within.ts";
import { endOfPrompt, failedResult } from "./session-end.ts";

export interface AcpHandleOptions {
  readonly agent: AcpAgent;
  readonly sessionId: string;
  readonly plan: SessionPlan;
  readonly ignored: readonly IgnoredField[];
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly limits: AcpLimits;
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
  readonly #mapper = new UpdateMapper();
  readonly #desk: PermissionDesk;
  readonly #over = new AbortController();
  readonly #answered: Promise<void>;
  readonly #letGo = Promise.withResolvers<void>();

  constructor(options: AcpHandleOptions) {
    const { agent, sessionId, ignored, plan, timeoutMs, signal } = options;
    this.#options = options;
    this.agent = agent;
    this.sessionId = sessionId;
    this.ignored = ignored;
    this.released = this.#letGo.promise;
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
    for (const event of this.#mapper.map(update)) this.events.push(event);
  }

  async permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const call = mergeToolCall(this.#mapper.tool(request.toolCall.toolCallId), request.toolCall);
    const { response, events } = await this.#desk.answer(call, request);
    if (this.events.ended) return PermissionDesk.withdrawn;
    for (const event of events) this.events.push(event);
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

  inject(): Promise<void> {
    const message = "ACP agents take no words while they work. Stop the session and resume it with them.";
    return Promise.reject(new ProviderError("unsupported", message));
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

  async #prompt(): Promise<void> {
    const { agent, sessionId } = this;
    const { plan } = this.#options;
    const prompt = [{ type: "text" as const, text: plan.prompt }];
    try {
      const response = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
      this.#finish(endOfPrompt(response, this.#mapper.message, this.#mapper.cost));
    } catch (error) {
      // The agent's death is told by `crash` with its last words, which take a moment to be known.
      if (agent.closed) return;
      const why = error instanceof Error ? error.message : String(error);
      const reason = error instanceof RequestError ? String(error.code) : "request_failed";
      this.#finish({ ...this.#failed("execution_failed", why), reason });
    }
  }

  #endAfter(timeoutMs: number): void {
    const timer = setTimeout(() => {
      this.#finish(this.#failed("deadline_exceeded", `It took longer than ${timeoutMs} ms.`));
    }, timeoutMs);
    this.#over.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  #failed(...[subtype, why]: [Parameters<typeof failedResult>[0], string]): ReturnType<typeof failedResult> {
    return failedResult(subtype, why, this.#mapper.message, this.#mapper.cost);
  }

  #break(code: Extract<TerminalEvent, { kind: "error" }>["code"], message: string): void {
    this.#finish(errorEvent(code, message, this.#mapper.cost));
  }

  #finish(end: TerminalEvent): void {
    if (this.events.ended) return;
    for (const event of this.#mapper.closeOpen("The session ended before this did.")) this.events.push(event);
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
