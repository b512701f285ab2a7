import { setTimeout as delay } from "node:timers/promises";
import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { KeyedSerialQueue, raceAbort } from "@codexkit/rpc/async";
import { CALL } from "../connection/call-limits.ts";
import type { Caller } from "../connection/caller.ts";
import type { Supervisor } from "../connection/supervisor.ts";
import { abortedError, CodexError } from "../errors.ts";
import type { CodexEvent } from "../events/event.ts";
import type { ThreadChannel } from "../routing/thread-channel.ts";
import type { ThreadRouter } from "../routing/thread-router.ts";
import { rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { ServerRequestHandlers } from "../requests/handlers.ts";
import { ToolHost } from "../tools/tool-host.ts";
import type { Agent } from "../routing/agent-tree.ts";
import { hasQueuedInput } from "./server-queue.ts";
import { Thread, type ThreadHost } from "./thread.ts";
import {
  checkThreadOptions,
  FORK_THREAD,
  type ForkThreadOptions,
  RESUME_THREAD,
  type ResumeThreadOptions,
  START_THREAD,
  type StartThreadOptions,
  type ThreadEventsOptions,
  type ThreadHandlers,
  type ThreadSettings,
  toWire,
} from "./thread-options.ts";

interface Entry {
  readonly thread: Thread;
  readonly ephemeral: boolean;
  /** Params for resuming the thread on another server, so that it keeps the settings of its owner. */
  readonly resume: Omit<v2.ThreadResumeParams, "threadId">;
  /** Number of the connection on which the thread is loaded. */
  generation: number;
  loading: Promise<void> | undefined;
}

/** Handlers and tools of one thread. Set before the server can send requests, so before the `Thread` exists. */
interface Responders {
  readonly handlers: ServerRequestHandlers | undefined;
  readonly tools: ToolHost | undefined;
}

/** Timeout of the server's confirmation when a thread is closed. */
const UNSUBSCRIBE_LIMIT_MS = 5_000;
/** Pauses between attempts to resume a thread that is being unloaded. Codex gives up unloading after ten seconds. */
const UNLOAD = { limitMs: 15_000, firstDelayMs: 10, longestDelayMs: 250 } as const;

/** The threads of this client, loaded on the current server on demand. */
export class ThreadRegistry implements ThreadHost {
  readonly local: boolean;
  readonly caller: Caller;
  readonly #supervisor: Supervisor;
  readonly #router: ThreadRouter;
  readonly #entries = new Map<string, Entry>();
  readonly #responders = new Map<string, Responders>();
  readonly #resumes = new KeyedSerialQueue<string>();

  readonly #onReleased: (threadId: string) => void;

  constructor(
    supervisor: Supervisor,
    router: ThreadRouter,
    { local, onReleased }: { local: boolean; onReleased: (threadId: string) => void },
  ) {
    this.#supervisor = supervisor;
    this.caller = supervisor;
    this.#router = router;
    this.#onReleased = onReleased;
    this.local = local;
    // The server unloads a thread that has had no subscriber for a while. The next call loads it again.
    supervisor.on("thread/closed", ({ threadId }) => {
      const entry = this.#entries.get(threadId);
      if (entry) entry.generation = 0;
    });
  }

  start(options: StartThreadOptions, call: CallOptions): Promise<Thread> {
    return this.#open(options, () => this.#start(options, call));
  }

  /** Returns the same `Thread` for the same ID, with the handlers of the latest call. */
  resume(threadId: string, options: ResumeThreadOptions, call: CallOptions): Promise<Thread> {
    return this.#open(options, () => this.#resumeInOrder(threadId, options, call));
  }

  fork(threadId: string, options: ForkThreadOptions, call: CallOptions): Promise<Thread> {
    return this.#open(options, () => this.#fork(threadId, options, call));
  }

  async #start(options: StartThreadOptions, call: CallOptions): Promise<Thread> {
    checkThreadOptions("startThread", options, START_THREAD);
    rejectUnknownOptions("startThread: the second argument", call, CALL);
    const wire = toWire(options, this.local);
    const responders = respondersOf(options);
    const dynamicTools = responders.tools ? { dynamicTools: [...responders.tools.specs] } : {};
    const { generation } = await this.#supervisor.connect();
    const response = await this.#supervisor.request("thread/start", { ...wire, ...dynamicTools }, call);
    this.#responders.set(response.thread.id, responders);
    return this.#adopt(response, wire, generation);
  }

  /** Resumes a thread after earlier resumes of it, because a failed one restores what it found. */
  async #resumeInOrder(threadId: string, options: ResumeThreadOptions, call: CallOptions): Promise<Thread> {
    checkThreadOptions("resumeThread", options, RESUME_THREAD);
    rejectUnknownOptions("resumeThread: the third argument", call, CALL);
    const acquired = this.#resumes.acquire(threadId);
    try {
      await raceAbort(acquired, call.signal, abortedError);
      return await this.#resume(threadId, options, call);
    } finally {
      void acquired.then((lock) => lock[Symbol.dispose]());
    }
  }

  async #resume(threadId: string, options: ResumeThreadOptions, call: CallOptions): Promise<Thread> {
    const wire = toWire(options, this.local);
    const before = this.#responders.get(threadId);
    // Set first: the server repeats its pending requests immediately.
    if (options.tools ?? options.handlers ?? !before) this.#responders.set(threadId, respondersOf(options));
    const held = this.#entries.get(threadId)?.thread;
    this.#router.hold(threadId);
    try {
      const { generation } = await this.#supervisor.connect();
      const response = await this.#load({ ...wire, threadId }, call);
      return this.#adopt(response, wire, generation);
    } catch (error) {
      if (before) this.#responders.set(threadId, before);
      else this.#responders.delete(threadId);
      if (!held) this.#router.release(threadId);
      throw error;
    }
  }

  async #fork(threadId: string, options: ForkThreadOptions, call: CallOptions): Promise<Thread> {
    checkThreadOptions("fork", options, FORK_THREAD);
    rejectUnknownOptions("fork: the last argument", call, CALL);
    const wire = toWire(options, this.local);
    const { generation } = await this.#supervisor.connect();
    const params = { ...wire, threadId, excludeTurns: true };
    const response = await this.#supervisor.request("thread/fork", params, call);
    // Codex copies the tools with the history, so their functions are copied too.
    const own = respondersOf(options);
    const source = this.#responders.get(threadId);
    this.#responders.set(response.thread.id, {
      handlers: own.handlers ?? source?.handlers,
      tools: own.tools ?? source?.tools,
    });
    const { lastTurnId: _last, beforeTurnId: _before, ...settings } = wire;
    return this.#adopt(response, settings, generation);
  }

  /** Handlers for requests of a thread: its own first, then those of the threads above it. */
  handlersFor(threadId: string): ServerRequestHandlers[] {
    return this.#respondersAbove(threadId).flatMap(({ handlers, tools }) => [
      ...(handlers ? [handlers] : []),
      ...(tools ? [tools.handlers] : []),
    ]);
  }

  async loaded(threadId: string): Promise<void> {
    const { generation } = await this.#supervisor.connect();
    const entry = this.#entries.get(threadId);
    if (!entry)
      throw new CodexError("closed", `Thread ${threadId} was closed by this program. Resume it first.`);
    if (entry.generation === generation) return;
    entry.loading ??= this.#reload(threadId, entry, generation).finally(() => {
      entry.loading = undefined;
    });
    await entry.loading;
  }

  agentsBelow(threadId: string): Agent[] {
    return this.#router.agents.below(threadId);
  }

  events(
    channel: ThreadChannel,
    { agents }: ThreadEventsOptions,
  ): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    return agents === true ? this.#router.readWithAgents(channel.threadId) : this.#router.read(channel);
  }

  async release(threadId: string): Promise<void> {
    const entry = this.#entries.get(threadId);
    if (!entry) return;
    this.#entries.delete(threadId);
    this.#responders.delete(threadId);
    this.#router.release(threadId);
    this.#onReleased(threadId);
    // A restarted server has no subscription to end.
    if (entry.generation !== this.#supervisor.generation) return;
    const limit = { timeoutMs: UNSUBSCRIBE_LIMIT_MS };
    // Only stops notifications, which are ignored from now on anyway: a failure does not affect the caller.
    await this.#supervisor.request("thread/unsubscribe", { threadId }, limit).catch(() => {});
  }

  #open(
    { bufferEvents }: Pick<StartThreadOptions, "bufferEvents">,
    open: () => Promise<Thread>,
  ): Promise<Thread> {
    return bufferEvents === true ? this.#router.buffered(open) : open();
  }

  #adopt(
    response: ThreadSettings & { thread: v2.Thread },
    wire: Omit<v2.ThreadResumeParams, "threadId">,
    generation: number,
  ): Thread {
    const { id, ephemeral } = response.thread;
    const known = this.#entries.get(id);
    if (known) {
      known.generation = generation;
      return known.thread;
    }
    const thread = new Thread(this, this.#router.hold(id), response);
    this.#entries.set(id, { thread, ephemeral, resume: resumable(wire), generation, loading: undefined });
    return thread;
  }

  async #reload(threadId: string, entry: Entry, generation: number): Promise<void> {
    if (entry.ephemeral) {
      throw new CodexError("thread_lost", `Thread ${threadId} was ephemeral and ended with its server.`);
    }
    await this.#load({ ...entry.resume, threadId }, {});
    entry.generation = generation;
  }

  /** Loads the thread on the server and starts tracking what already runs on it. */
  async #load(params: v2.ThreadResumeParams, call: CallOptions): Promise<v2.ThreadResumeResponse> {
    const { threadId } = params;
    const channel = this.#router.hold(threadId);
    // Checked before the resume, which may start queued input: afterwards, the input may be in neither the queue nor a turn.
    if (await hasQueuedInput(this.#supervisor, threadId, call)) channel.queueState = "held";
    const response = await this.#resumeAfterUnload({ ...params, excludeTurns: true }, call);
    if (response.thread.status.type === "active") {
      const newest = { threadId, limit: 1, sortDirection: "desc", itemsView: "full" } as const;
      const { data } = await this.#supervisor.request("thread/turns/list", newest, call);
      for (const turn of data) if (turn.status === "inProgress") channel.join(turn);
    }
    return response;
  }

  /** Repeats the resume while the server unloads the thread, which it does after its last subscriber has left. */
  async #resumeAfterUnload(
    params: v2.ThreadResumeParams,
    call: CallOptions,
  ): Promise<v2.ThreadResumeResponse> {
    const until = performance.now() + Math.min(UNLOAD.limitMs, call.timeoutMs ?? UNLOAD.limitMs);
    for (let waitMs: number = UNLOAD.firstDelayMs; ; waitMs = Math.min(waitMs * 2, UNLOAD.longestDelayMs)) {
      try {
        return await this.#supervisor.request("thread/resume", params, call);
      } catch (error) {
        const isClosing = CodexError.is(error) && error.code === "thread_closing";
        if (!isClosing || performance.now() + waitMs > until) throw error;
        await raceAbort(delay(waitMs), call.signal, abortedError);
      }
    }
  }

  #respondersAbove(threadId: string): Responders[] {
    const found: Responders[] = [];
    let next: string | undefined = threadId;
    while (next !== undefined) {
      const responders = this.#responders.get(next);
      if (responders) found.push(responders);
      next = this.#router.agents.parentOf(next);
    }
    return found;
  }
}

function respondersOf({ handlers, tools }: ThreadHandlers): Responders {
  return { handlers, tools: tools && tools.length > 0 ? new ToolHost(tools) : undefined };
}

/** Start params that a resume also accepts. */
function resumable(wire: v2.ThreadStartParams): Omit<v2.ThreadResumeParams, "threadId"> {
  const keys = [
    "model",
    "modelProvider",
    "serviceTier",
    "cwd",
    "runtimeWorkspaceRoots",
    "approvalPolicy",
    "approvalsReviewer",
    "sandbox",
    "permissions",
    "config",
    "baseInstructions",
    "developerInstructions",
  ] as const;
  return Object.fromEntries(keys.flatMap((key) => (wire[key] === undefined ? [] : [[key, wire[key]]])));
}
