import type { SharedV4Warning } from "@ai-sdk/provider";
import type { Codex, Thread } from "codexkit";
import { AI_SDK_LIMITS } from "../limits.ts";
import type { Call } from "../call/read-call.ts";
import type { History } from "../prompt/read-prompt.ts";
import { raceAbort } from "@codexkit/rpc/async";
import { threadTools, toolFingerprints } from "./thread-tools.ts";
import { ClientRequestBroker } from "../requests/client-request-broker.ts";
import { IdleSessions, type IdleSettings } from "./idle-sessions.ts";
import { projectDocState } from "./project-docs.ts";
import { PrestartedThreads } from "./prestarted-threads.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";
import { Session, type SessionOptions } from "./session.ts";
import { freshThreadOptions, initialSettings, threadKind, threadOptions } from "./thread-options.ts";

/** The thread for a call. */
export interface Opened {
  readonly session: Session;
  readonly warnings: readonly SharedV4Warning[];
  /** The thread's lock, if the call has already queued for it. */
  readonly entered?: Promise<() => void>;
}

interface StartOptions {
  readonly warnings?: readonly SharedV4Warning[];
  readonly hasWarnedOfChange?: boolean;
}

export interface SessionsSettings extends IdleSettings {
  /** Maximum number of prestarted threads per kind of call. */
  readonly prestartedThreads: number;
}

/** A resume that concurrent calls share. */
interface SharedResume {
  readonly session: Promise<Session>;
  /** Aborts when the last waiting call was aborted. */
  readonly abort: AbortController;
  /** Number of waiting calls. */
  callers: number;
}

interface FreshThread {
  readonly thread: Thread;
  readonly broker: ClientRequestBroker;
  /** PID of the codex that started it. */
  readonly pid: number | undefined;
  /** Whether the files that Codex read when it started are unchanged. */
  readonly isCurrent: () => boolean;
}

/** The threads that this provider holds on one codex. Assigns calls to threads. */
export class Sessions {
  readonly #codex: Codex;
  /** Least recently used first. */
  readonly #held = new Map<string, Session>();
  readonly #resuming = new Map<string, SharedResume>();
  readonly #prestarted: PrestartedThreads<FreshThread>;
  readonly #idle: IdleSessions;
  #looking: NodeJS.Timeout | undefined;
  readonly #facts = new Map<string, Promise<ServerFacts>>();

  constructor(codex: Codex, settings: SessionsSettings) {
    this.#codex = codex;
    this.#prestarted = new PrestartedThreads<FreshThread>(closeUnused, settings.prestartedThreads);
    this.#idle = new IdleSessions(this.#held, (session) => this.drop(session), settings);
  }

  /** Finds a held thread by its id. */
  find(threadId: string): Session | undefined {
    return this.#held.get(threadId);
  }

  /** Whether this provider released a thread that Codex did not store, to free its resources. */
  hasReleased(threadId: string): boolean {
    return this.#idle.hasReleased(threadId);
  }

  /** Returns the Codex configuration that applies in a folder. */
  facts(cwd: string): Promise<ServerFacts> {
    const known = this.#facts.get(cwd);
    if (known) return known;
    const facts = readServerFacts(this.#codex, cwd);
    if (this.#facts.size >= AI_SDK_LIMITS.factFolders) this.#facts.clear();
    this.#facts.set(cwd, facts);
    return facts;
  }

  /** Starts a new thread with the messages as its history. */
  async start(call: Call, { warnings = [], hasWarnedOfChange = false }: StartOptions = {}): Promise<Opened> {
    const history = await call.prompt.readHistory();
    const { thread, broker } =
      (await this.#takePrestarted(call)) ?? (await this.#startThread(call, call.callOptions));
    const session = this.#hold(thread, broker, call, {
      isStored: call.options.persist === true,
      isEmpty: history.items.length === 0,
      tools: toolFingerprints(call),
      hasWarnedOfChange,
    });
    await this.injectHistory(session, history.items, call);
    return { session, warnings: [...warnings, ...history.warnings] };
  }

  /** Adds a call's earlier messages to a new thread. If that fails, the thread is released, because no call can name it. */
  async injectHistory(session: Session, items: History["items"], call: Call): Promise<void> {
    if (items.length === 0) return;
    try {
      await session.thread.inject([...items], call.callOptions);
    } catch (error) {
      this.drop(session);
      throw error;
    }
  }

  /** Starts threads for the next calls of this kind. Called when the call's turn has begun. */
  prepareNext(call: Call, { thread }: Session): void {
    // An unused stored thread would never be removed, and a conversation that continues already has its thread.
    const { persist, threadId, workspace } = call.options;
    if (persist === true || call.prompt.thread || threadId !== undefined || workspace !== undefined) return;
    const kind = threadKind(call);
    const concurrent = [...this.#held.values()].filter((session) => session.kind === kind && !session.isIdle);
    this.#prestarted.prepare(kind, concurrent.length, async () => {
      const { codexHome = thread.cwd, docNames } = await this.facts(thread.cwd);
      const places = { cwd: thread.cwd, codexHome, otherNames: docNames };
      const docs = projectDocState(places);
      const started = await this.#startThread(call, {});
      return { ...started, isCurrent: () => projectDocState(places) === docs };
    });
  }

  /** Returns a held thread, or resumes a stored one. Concurrent calls that resume it get the same session. */
  async resume(threadId: string, call: Call, broker = new ClientRequestBroker()): Promise<Session> {
    const held = this.#held.get(threadId);
    if (held) return this.#use(held);
    const resume = this.#resuming.get(threadId) ?? this.#startResume(threadId, call, broker);
    resume.callers += 1;
    try {
      return await raceAbort(resume.session, call.signal);
    } catch (error) {
      if (resume.callers === 1) {
        // Removed immediately, so that the next call does not share an aborted resume.
        if (this.#resuming.get(threadId) === resume) this.#resuming.delete(threadId);
        resume.abort.abort(error);
      }
      throw error;
    } finally {
      resume.callers -= 1;
    }
  }

  #startResume(threadId: string, call: Call, broker: ClientRequestBroker): SharedResume {
    // Not the call's signal, because other calls may wait for the same session.
    const abort = new AbortController();
    const session = this.#resume(threadId, call, broker, abort.signal).finally(() => {
      if (this.#resuming.get(threadId) === resume) this.#resuming.delete(threadId);
    });
    const resume: SharedResume = { session, abort, callers: 0 };
    this.#resuming.set(threadId, resume);
    return resume;
  }

  async #resume(
    threadId: string,
    call: Call,
    broker: ClientRequestBroker,
    signal: AbortSignal,
  ): Promise<Session> {
    const options = threadOptions(call, broker);
    const thread = await this.#codex.resumeThread(
      threadId,
      { ...options, tools: threadTools(call, broker) },
      { signal },
    );
    return this.#hold(thread, broker, call, { isStored: true, isEmpty: false, tools: undefined });
  }

  /** Copies a stored thread: all of it, through `lastTurnId`, or up to `beforeTurnId`. */
  async fork(
    threadId: string,
    call: Call,
    where: { readonly lastTurnId?: string; readonly beforeTurnId?: string },
  ): Promise<Session> {
    const broker = new ClientRequestBroker();
    const isStored = call.options.persist === true;
    const thread = await this.#codex.forkThread(
      threadId,
      {
        ...threadOptions(call, broker),
        ...where,
        tools: threadTools(call, broker),
        ephemeral: !isStored,
      },
      call.callOptions,
    );
    const tools = this.#held.get(threadId)?.tools;
    return this.#hold(thread, broker, call, { isStored, isEmpty: false, tools });
  }

  /** Releases a session. */
  drop(session: Session): void {
    this.#held.delete(session.thread.id);
    session.close().catch(() => {}); // The server may have exited.
  }

  /** Releases the prestarted threads. */
  dropPrestarted(): void {
    this.#prestarted.clear();
  }

  /** Called when a turn has ended: releases threads beyond the limits, now and when the next one expires. */
  trim(session: Session): void {
    this.#idle.trim();
    if (session.hasMcpServers) return;
    // Delayed, so that a program that makes a single call does not pay for it.
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => void this.#findMcpServers(), AI_SDK_LIMITS.mcpLookMs).unref();
  }

  /** Finds the threads with MCP servers from the user's configuration. */
  async #findMcpServers(): Promise<void> {
    for (const session of this.#held.values()) {
      // Don't restart a codex that has exited for this.
      if (session.hasMcpServers || session.pid !== this.#codex.pid) continue;
      const { hasMcpServers } = await this.facts(session.thread.cwd);
      session.hasMcpServers = hasMcpServers;
    }
    this.#idle.trim();
  }

  /** @param options.leaves Whether waiting turns are left on the server, which keeps running without this program. */
  async close(options: { readonly leaves: boolean }): Promise<void> {
    const sessions = [...this.#held.values()];
    this.#held.clear();
    this.#idle.stop();
    clearTimeout(this.#looking);
    this.dropPrestarted();
    await Promise.allSettled(sessions.map((session) => session.close(options)));
  }

  /** Ends all sessions together with their process. */
  async end(closeCodex: () => Promise<void>): Promise<void> {
    const sessions = [...this.#held.values()];
    this.#held.clear();
    this.#idle.stop();
    clearTimeout(this.#looking);
    this.#prestarted.forget();
    for (const session of sessions) session.stop("The provider was closed.");
    await closeCodex();
    await Promise.allSettled(sessions.map((session) => session.releaseWorkspace()));
  }

  async #startThread(call: Call, options: Call["callOptions"]): Promise<FreshThread> {
    const broker = new ClientRequestBroker();
    const thread = await this.#codex.startThread(freshThreadOptions(call, broker), options);
    return { thread, broker, pid: this.#codex.pid, isCurrent: () => true };
  }

  /** Takes a prestarted thread, if its codex is still running and the thread is up to date. */
  async #takePrestarted(call: Call): Promise<FreshThread | undefined> {
    const ready = this.#prestarted.take(threadKind(call))?.catch(() => undefined);
    if (!ready) return undefined;
    try {
      const fresh = await raceAbort(ready, call.signal);
      if (fresh === undefined || fresh.pid !== this.#codex.pid) return undefined;
      if (fresh.isCurrent()) return fresh;
      closeUnused(fresh);
      return undefined;
    } catch (error) {
      void ready.then((fresh) => fresh && closeUnused(fresh));
      throw error;
    }
  }

  #hold(
    thread: Thread,
    broker: ClientRequestBroker,
    call: Call,
    more: Pick<SessionOptions, "isStored" | "isEmpty" | "tools" | "hasWarnedOfChange">,
  ): Session {
    const { instructions } = call;
    const waitMs = call.approvals.suspendTimeoutMs;
    const kind = threadKind(call);
    const settings = initialSettings(call);
    const hasMcpServers = Object.keys(call.options.mcpServers ?? {}).length > 0;
    const session = new Session({
      ...more,
      thread,
      broker,
      kind,
      instructions,
      settings,
      waitMs,
      hasMcpServers,
      pid: this.#codex.pid,
    });
    this.#held.set(thread.id, session);
    return session;
  }

  #use(session: Session): Session {
    this.#held.delete(session.thread.id);
    this.#held.set(session.thread.id, session);
    return session;
  }
}

function closeUnused({ thread }: FreshThread): void {
  thread.close().catch(() => {}); // The server may have exited.
}
