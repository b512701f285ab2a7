import { raceAbort, withTimeout } from "@codexkit/rpc/async";
import { type Codex, type OptionKeys, rejectUnknownOptions } from "codexkit";
import { checkValue, hasMethods, isCount, isFunction, isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { evaluate } from "../evaluate/evaluate.ts";
import type { EvaluationResult } from "../evaluate/evaluation.ts";
import type { EvaluateOptions } from "../evaluate/options.ts";
import type { Prompt } from "../prompt/define-prompt.ts";
import { PromptSession } from "../session/session.ts";

/** A request taken from a queue. */
export interface AgentRequest<Input> {
  readonly id: string;
  readonly input: Input;
  /** How often the request was delivered, this time included. Default: 1. */
  readonly attempt?: number;
}

/** How a worker handles requests. */
export interface AgentOptions<Input, Output> {
  readonly codex: Codex;
  /** Creates the prompt for a request. */
  readonly prompt: (request: AgentRequest<Input>) => Prompt<Output> | Promise<Prompt<Output>>;
  /** Returns the options of a request's evaluation. Each request has its own session unless one is set here. */
  readonly evaluation?: (request: AgentRequest<Input>) => EvaluateOptions | Promise<EvaluateOptions>;
  /** Called with the result. The request is acknowledged when the callback resolves. */
  readonly onResult: (request: AgentRequest<Input>, result: EvaluationResult<Output>) => void | Promise<void>;
  /**
   * Called when a request failed and will be redelivered, if the queue supports that. If this or `onDeadLetter` throws, the
   * request would be lost, so the worker takes no more requests and `runAgent` rejects.
   */
  readonly onFailure?: (request: AgentRequest<Input>, error: unknown) => void | Promise<void>;
  /** Called when a request failed for the last time. */
  readonly onDeadLetter?: (request: AgentRequest<Input>, error: unknown) => void | Promise<void>;
  /** Deliveries after which a failed request goes to `onDeadLetter`. Default: 3. */
  readonly maxAttempts?: number;
  /** Extends the request's lease while it is evaluated. Called every `heartbeatIntervalMs`. */
  readonly extendLease?: (request: AgentRequest<Input>) => void | Promise<void>;
  /** Signals that the worker is alive, with the number of running requests. Called every `heartbeatIntervalMs`. */
  readonly onHeartbeat?: (running: number) => void;
  /** Default: 15 s. */
  readonly heartbeatIntervalMs?: number;
  /** Receives failures of `extendLease` and `onHeartbeat`, which don't affect requests. */
  readonly onWarning?: (message: string, error: unknown) => void;
  /** Number of requests that are evaluated concurrently. Default: 1. */
  readonly concurrency?: number;
  /** Stops taking requests. Running requests have `drainMs` to end before they are aborted. */
  readonly signal?: AbortSignal;
  /** Default: 30 s. */
  readonly drainMs?: number;
}

/** Summary of a worker's run. */
export interface AgentReport {
  readonly succeeded: number;
  readonly failed: number;
  readonly deadLetters: number;
}

const DEFAULTS = { maxAttempts: 3, heartbeatIntervalMs: 15_000, concurrency: 1, drainMs: 30_000 } as const;

/**
 * Evaluates requests from a queue until the queue ends or the signal aborts. Resolves when all running requests have ended.
 *
 * @example
 * await runAgent(queue, { codex, prompt: ({ input }) => review.bind(input), onResult: save, signal });
 */
export async function runAgent<Input, Output>(
  requests: AsyncIterable<AgentRequest<Input>>,
  options: AgentOptions<Input, Output>,
): Promise<AgentReport> {
  checkAgentOptions(requests, options);
  await using worker = new Worker(options);
  const signal = AbortSignal.any([worker.failed, ...(options.signal ? [options.signal] : [])]);
  const iterator = requests[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextRequest(iterator, worker, signal);
      if (!next) break;
      worker.start(next.request);
    }
  } finally {
    // Not awaited, because a hanging queue must not keep the worker from shutting down.
    void Promise.resolve(iterator.return?.()).catch(() => {});
    await worker.drain();
  }
  worker.failed.throwIfAborted();
  return worker.report;
}

const KNOWN: OptionKeys<AgentOptions<never, never>> = {
  codex: true,
  prompt: true,
  evaluation: true,
  onResult: true,
  onFailure: true,
  onDeadLetter: true,
  maxAttempts: true,
  extendLease: true,
  onHeartbeat: true,
  heartbeatIntervalMs: true,
  onWarning: true,
  concurrency: true,
  signal: true,
  drainMs: true,
};

function checkAgentOptions<Input, Output>(
  requests: AsyncIterable<AgentRequest<Input>>,
  options: AgentOptions<Input, Output>,
): void {
  if (typeof (requests as Partial<typeof requests>)?.[Symbol.asyncIterator] !== "function")
    throw new PromptError("invalid_option", "runAgent: requests must be an async iterable, such as a queue.");
  rejectUnknownOptions("runAgent", options, KNOWN as OptionKeys<AgentOptions<Input, Output>>);
  const isMilliseconds = (value: unknown): boolean => typeof value === "number" && value >= 0;
  checkValue("runAgent: codex", options.codex ?? null, "a Codex", (value) =>
    hasMethods(value, "startThread"),
  );
  checkValue("runAgent: prompt", options.prompt ?? null, "a function", isFunction);
  checkValue("runAgent: onResult", options.onResult ?? null, "a function", isFunction);
  checkValue("runAgent: concurrency", options.concurrency, "a whole number of at least 1", isCount);
  checkValue("runAgent: maxAttempts", options.maxAttempts, "a whole number of at least 1", isCount);
  checkValue(
    "runAgent: heartbeatIntervalMs",
    options.heartbeatIntervalMs,
    "a number of milliseconds",
    isMilliseconds,
  );
  checkValue("runAgent: drainMs", options.drainMs, "a number of milliseconds", isMilliseconds);
  checkValue("runAgent: signal", options.signal, "an AbortSignal", (value) => value instanceof AbortSignal);
}

/** Returns undefined at the end of the queue or when the worker must stop, even while all of its capacity is in use. */
async function nextRequest<Input, Output>(
  iterator: AsyncIterator<AgentRequest<Input>>,
  worker: Worker<Input, Output>,
  signal: AbortSignal,
): Promise<{ readonly request: AgentRequest<Input> } | undefined> {
  try {
    await raceAbort(worker.waitForCapacity(), signal);
    const { done, value } = await raceAbort(iterator.next(), signal);
    if (done) return undefined;
    checkRequest(value);
    return { request: value };
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Rejects invalid requests. A request without an id could not be acknowledged or redelivered. */
function checkRequest(request: unknown): void {
  const { id, attempt } = (request ?? {}) as Readonly<Record<string, unknown>>;
  checkValue("runAgent: request id", id ?? null, "a string", isString);
  checkValue("runAgent: request attempt", attempt, "a whole number of at least 1", isCount);
}

class Worker<Input, Output> implements AsyncDisposable {
  readonly #options: AgentOptions<Input, Output>;
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #failure = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #succeeded = 0;
  #failed = 0;
  #deadLetters = 0;

  constructor(options: AgentOptions<Input, Output>) {
    this.#options = options;
    this.#heartbeat = setInterval(
      () => void this.#guard("onHeartbeat failed.", () => options.onHeartbeat?.(this.#running.size)),
      options.heartbeatIntervalMs ?? DEFAULTS.heartbeatIntervalMs,
    );
  }

  /** Aborts when `onFailure` or `onDeadLetter` has failed. */
  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  get report(): AgentReport {
    return { succeeded: this.#succeeded, failed: this.#failed, deadLetters: this.#deadLetters };
  }

  async waitForCapacity(): Promise<void> {
    const { concurrency = DEFAULTS.concurrency } = this.#options;
    while (this.#running.size >= concurrency) await Promise.race(this.#running);
  }

  start(request: AgentRequest<Input>): void {
    const running: Promise<void> = this.#handle(request)
      .catch((error: unknown) => this.#failure.abort(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for the running requests. Aborts them if a shutdown exceeds its time limit. */
  async drain(): Promise<void> {
    const { signal, drainMs = DEFAULTS.drainMs } = this.#options;
    const ended = Promise.allSettled(this.#running);
    if (signal?.aborted) {
      const late = (): Error => new Error("The worker was shut down.");
      await withTimeout(ended, drainMs, late).catch((error: unknown) => this.#abort.abort(error));
    }
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#heartbeat);
    await this.drain();
  }

  async #handle(request: AgentRequest<Input>): Promise<void> {
    const { heartbeatIntervalMs = DEFAULTS.heartbeatIntervalMs, extendLease } = this.#options;
    const lease = extendLease
      ? setInterval(
          () => void this.#guard("A lease could not be extended.", () => extendLease(request)),
          heartbeatIntervalMs,
        )
      : undefined;
    try {
      const result = await this.#evaluate(request);
      await this.#options.onResult(request, result);
      this.#succeeded += 1;
    } catch (error) {
      await this.#fail(request, error);
    } finally {
      clearInterval(lease);
    }
  }

  async #evaluate(request: AgentRequest<Input>): Promise<EvaluationResult<Output>> {
    const { codex, prompt, evaluation } = this.#options;
    const options = (await evaluation?.(request)) ?? {};
    const signals = [this.#abort.signal, ...(options.signal ? [options.signal] : [])];
    return evaluate(codex, await prompt(request), {
      session: new PromptSession(),
      ...options,
      signal: AbortSignal.any(signals),
    }).result();
  }

  async #fail(request: AgentRequest<Input>, error: unknown): Promise<void> {
    const { maxAttempts = DEFAULTS.maxAttempts, onFailure, onDeadLetter } = this.#options;
    this.#failed += 1;
    const isLast = (request.attempt ?? 1) >= maxAttempts;
    if (isLast) this.#deadLetters += 1;
    await (isLast ? onDeadLetter : onFailure)?.(request, error);
  }

  async #guard(message: string, callback: () => void | Promise<void>): Promise<void> {
    try {
      await callback();
    } catch (error) {
      this.#options.onWarning?.(message, error);
    }
  }
}
