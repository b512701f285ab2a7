import { setImmediate as nextIteration } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  methods,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { raceCancel } from "../contract/cancelled.ts";
import type { ActivityEvent, ErrorSubtype, ResultEvent, TerminalEvent } from "../contract/agent-event.ts";
import type { AgentHandle, ProviderCallOptions } from "../contract/agent-provider.ts";
import { EventStream } from "../contract/event-stream.ts";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { errorEvent, failedResult } from "../contract/session-end.ts";
import type { SessionUpdate } from "./events/session-notification.ts";
import { UpdateMapper } from "./events/update-mapper.ts";
import type { AcpLimits } from "./process/limits.ts";
import { PermissionBroker } from "./permissions/permission-broker.ts";
import type { SessionPlan } from "./plan/plan-session.ts";
import type { AcpAgent } from "./process/acp-agent.ts";
import { describeFailure, needsLogin, waitForAgent } from "./process/agent-failure.ts";
import { endOfPrompt } from "./session-end.ts";

export interface AcpHandleOptions {
  readonly agent: AcpAgent;
  readonly sessionId: string;
  readonly plan: SessionPlan;
  readonly ignored: readonly IgnoredField[];
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly limits: AcpLimits;
  /** Cost of the session before the resume, if the agent reported it. */
  readonly earlierUsd?: number | undefined;
  /** Called if the agent does not react to `session/cancel`. */
  readonly onUnresponsive: () => Promise<void>;
  /** Frees the session on the agent. `hasOutput`: whether the agent has produced any output, and so stored the session. */
  readonly closeSession: (hasOutput: boolean) => Promise<void>;
}

/**
 * One prompt of one session. Its response, `stop`, the signal, the deadline, a crash and the provider's shutdown may come in any
 * order. The first one ends the stream, and the prompt is cancelled if it is still running.
 */
export class AcpHandle implements AgentHandle {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly events: EventStream;
  readonly agent: AcpAgent;
  /** Resolves once the agent has stopped working on this session. Never rejects. */
  readonly released: Promise<void>;
  readonly #options: AcpHandleOptions;
  readonly #mapper: UpdateMapper;
  readonly #broker: PermissionBroker;
  readonly #end = new AbortController();
  readonly #answered: Promise<void>;
  readonly #released = Promise.withResolvers<void>();
  #updated = Promise.withResolvers<void>();
  #announcing: NodeJS.Timeout | undefined;

  constructor(options: AcpHandleOptions) {
    const { agent, sessionId, ignored, plan, timeoutMs, signal } = options;
    this.#options = options;
    this.agent = agent;
    this.sessionId = sessionId;
    this.ignored = ignored;
    this.released = this.#released.promise;
    const servers = plan.session.mcpServers.map(({ name }) => name);
    this.#mapper = new UpdateMapper({ servers, earlierUsd: options.earlierUsd });
    this.#broker = new PermissionBroker(plan.policy, plan.session.cwd);
    this.events = new EventStream(
      { kind: "init", sessionId, ignored, raw: agent.info },
      { onAbandoned: () => this.#release() },
    );
    const untilEnd = { signal: this.#end.signal };
    signal?.addEventListener(
      "abort",
      () => this.#break("context_cancelled", "The caller's signal was aborted."),
      untilEnd,
    );
    if (timeoutMs !== undefined) this.#endAfter(timeoutMs);
    this.#answered = this.#prompt();
  }

  onUpdate(update: SessionUpdate): void {
    this.#push(this.#mapper.map(update));
    this.#updated.resolve();
    this.#updated = Promise.withResolvers();
    if (this.#mapper.hasPending) this.#announceLater();
  }

  async onPermissionRequest(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { toolCallId } = request.toolCall;
    const call = this.#mapper.mapPermission(request.toolCall);
    const { response, events, denial } = await this.#broker.answer(call, request);
    if (this.events.ended) return PermissionBroker.withdrawn;
    this.#push(events);
    if (denial === undefined) this.#push(this.#mapper.allow(toolCallId));
    else this.#mapper.deny(toolCallId, denial);
    return response;
  }

  /** Reports a request that the client does not support. */
  onUnknownRequest(method: string): void {
    this.events.push({
      kind: "system",
      subtype: "unhandled_server_request",
      message: `The agent called ${method}, which the client does not support.`,
    });
  }

  /** Injects text into the running prompt, if the agent supports ACP's steering extension. */
  async inject(text: string, { signal }: ProviderCallOptions = {}): Promise<void> {
    if (!this.agent.canSteer) {
      const message =
        "This ACP agent does not accept messages during a prompt. Stop the session and resume it with the message.";
      throw new ProviderError("unsupported", message);
    }
    if (this.events.ended) throw sessionEnded();
    const { injectMs } = this.#options.limits;
    const abort = new AbortController();
    try {
      await raceCancel(waitForAgent("the injection", injectMs, this.#steer(text, abort.signal)), signal);
    } catch (error) {
      if (ProviderError.is(error)) throw error;
      const message = `The agent did not accept the message: ${describeFailure(error)}`;
      throw new ProviderError("inject_failed", message, { cause: error });
    } finally {
      // The agent must not receive the message after the caller has given up.
      abort.abort();
    }
    this.events.push({ kind: "system", subtype: "injected", message: text });
  }

  async stop({ signal }: ProviderCallOptions = {}): Promise<void> {
    this.#finish(this.#failed("stopped", "The session was stopped."));
    await raceCancel(this.released, signal);
  }

  /** Ends the session because the agent has crashed. */
  crash(why: string): void {
    this.#break("app_server_crashed", why);
  }

  shutdown(): void {
    this.#break("provider_shutdown", "The provider was shut down.");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Without a running turn, the prompt has not started yet or has just ended. The next update decides which. */
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

  /** Reports calls that stay pending, with the input that is known. */
  #announceLater(): void {
    if (this.#announcing !== undefined || this.#end.signal.aborted) return;
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
      // Most agents report tokens only in the response.
      if (!isDeepStrictEqual(end.cost, cost))
        this.events.push({ kind: "usage", cost: end.cost, raw: response });
      this.#finish(end);
    } catch (error) {
      // `crash` follows with the exit status, which takes a moment to be known.
      if (agent.isClosed) return;
      const reason = error instanceof RequestError ? String(error.code) : "request_failed";
      const subtype = needsLogin(error) ? "authentication_failed" : "execution_failed";
      this.#finish(this.#failed(subtype, describeFailure(error), reason));
    }
  }

  #endAfter(timeoutMs: number): void {
    const timer = setTimeout(() => {
      this.#finish(
        this.#failed("deadline_exceeded", `The session took longer than ${timeoutMs} ms (timeoutMs).`),
      );
    }, timeoutMs);
    this.#end.signal.addEventListener("abort", () => clearTimeout(timer));
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
    this.#push(this.#mapper.closeOpen("The session ended before the tool did."));
    this.events.end(end);
    this.#release();
  }

  #release(): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    void this.#settle().finally(() => this.#released.resolve());
  }

  /** Waits until the agent is idle: it has answered the cancelled prompt, or its connection has closed. */
  async #settle(): Promise<void> {
    const { agent, sessionId } = this;
    const { limits, onUnresponsive, closeSession } = this.#options;
    // A prompt that has been answered needs no cancellation.
    const pending = await Promise.race([this.#answered.then(() => false), nextIteration().then(() => true)]);
    try {
      if (pending) await agent.cancel(sessionId);
      if (pending)
        await waitForAgent("the agent's response to session/cancel", limits.cancelMs, this.#answered);
    } catch {
      await onUnresponsive();
    }
    await closeSession(!pending || this.#mapper.hasOutput);
  }
}

function sessionEnded(): ProviderError {
  return new ProviderError(
    "session_ended",
    "The session has ended. Resume it with the message as its prompt.",
  );
}
