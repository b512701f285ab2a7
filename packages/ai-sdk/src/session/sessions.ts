import type { SharedV4Warning } from "@ai-sdk/provider";
import type { Codex, Thread } from "codexkit";
import type { ApprovalSettings } from "../approval/approval-handlers.ts";
import { limits } from "../limits.ts";
import type { Call } from "../model/read-call.ts";
import { orAborted } from "../or-aborted.ts";
import { clientTools, toolFingerprints } from "../tools/client-tools.ts";
import { AskDesk } from "./ask-desk.ts";
import { ReadyThreads } from "./ready-threads.ts";
import { Session, type SessionOptions } from "./session.ts";
import { freshThreadOptions, lastingSettings, threadKind, threadOptions } from "./thread-options.ts";

/** The thread for a call. */
export interface Opened {
  readonly session: Session;
  readonly warnings: readonly SharedV4Warning[];
}

interface FreshThread {
  readonly thread: Thread;
  readonly desk: AskDesk;
  /** The process that it lives in. */
  readonly pid: number | undefined;
}

/** The threads of one codex that this provider holds, and how a call comes to its own. */
export class Sessions {
  readonly #codex: Codex;
  readonly #approvals: ApprovalSettings;
  /** The least recently used first. */
  readonly #held = new Map<string, Session>();
  readonly #resuming = new Map<string, Promise<Session>>();
  readonly #ready = new ReadyThreads<FreshThread>(closeUnused);

  constructor(codex: Codex, approvals: ApprovalSettings) {
    this.#codex = codex;
    this.#approvals = approvals;
  }

  /** The thread that this provider holds by that id. */
  find(threadId: string): Session | undefined {
    return this.#held.get(threadId);
  }

  /** A thread of the call's own, with what its messages say as its history. */
  async start(call: Call, warnings: readonly SharedV4Warning[] = []): Promise<Opened> {
    const history = await call.prompt.readHistory();
    const { thread, desk } =
      (await this.#takeReady(call)) ?? (await this.#startThread(call, call.callOptions));
    const session = this.#hold(thread, desk, call, {
      isStored: call.options.persist === true,
      isEmpty: history.items.length === 0,
      tools: toolFingerprints(call.tools),
    });
    if (history.items.length > 0) await thread.inject([...history.items], call.callOptions);
    return { session, warnings: [...warnings, ...history.warnings] };
  }

  /** The turn of a call has begun: the next calls of its kind may find their threads ready. */
  prepareNext(call: Call): void {
    // A stored thread that nobody used would be there for ever; a conversation that goes on has its thread.
    if (call.options.persist === true || call.prompt.thread || call.options.threadId !== undefined) return;
    const kind = threadKind(call);
    const atOnce = [...this.#held.values()].filter((session) => session.kind === kind && !session.isIdle);
    this.#ready.prepare(kind, atOnce.length, () => this.#startThread(call, {}));
  }

  /** A thread by its id, held or stored. Whoever else resumes it at the same time gets the same session. */
  async resume(threadId: string, call: Call, desk = new AskDesk()): Promise<Session> {
    const held = this.#held.get(threadId);
    if (held) return this.#use(held);
    const resuming =
      this.#resuming.get(threadId) ??
      this.#resume(threadId, call, desk).finally(() => this.#resuming.delete(threadId));
    this.#resuming.set(threadId, resuming);
    return orAborted(resuming, call.signal);
  }

  async #resume(threadId: string, call: Call, desk: AskDesk): Promise<Session> {
    const options = threadOptions(call, desk, this.#approvals);
    const thread = await this.#codex.resumeThread(
      threadId,
      { ...options, tools: clientTools(call.tools, desk) },
      call.callOptions,
    );
    return this.#hold(thread, desk, call, { isStored: true, isEmpty: false, tools: undefined });
  }

  /** A copy of a stored thread: whole, through a turn, or up to one. */
  async fork(
    threadId: string,
    call: Call,
    where: { readonly lastTurnId?: string; readonly beforeTurnId?: string },
  ): Promise<Session> {
    const desk = new AskDesk();
    const isStored = call.options.persist === true;
    const thread = await this.#codex.forkThread(
      threadId,
      {
        ...threadOptions(call, desk, this.#approvals),
        ...where,
        tools: clientTools(call.tools, desk),
        ephemeral: !isStored,
      },
      call.callOptions,
    );
    const tools = this.#held.get(threadId)?.tools;
    return this.#hold(thread, desk, call, { isStored, isEmpty: false, tools });
  }

  /** A session that turned out to be of no use. */
  drop(session: Session): void {
    this.#held.delete(session.thread.id);
    session.close().catch(() => {}); // Its server may be gone.
  }

  /** Lets go of the threads that were started ahead. */
  dropReady(): void {
    this.#ready.clear();
  }

  /** Lets go of the threads that nobody has used for long, and of those beyond what is kept. */
  trim(): void {
    const idle = [...this.#held.values()].filter((session) => session.isIdle);
    const beyond = idle.length - limits.idleThreads;
    for (const [at, session] of idle.entries()) {
      if (at < beyond || session.idleMs > limits.idleThreadMs) this.drop(session);
    }
  }

  /** @param options.leaves Whether turns that wait for their client stay with a server that goes on without this program. */
  async close(options: { readonly leaves: boolean }): Promise<void> {
    const sessions = [...this.#held.values()];
    this.#held.clear();
    this.dropReady();
    await Promise.allSettled(sessions.map((session) => session.close(options)));
  }

  async #startThread(call: Call, options: Call["callOptions"]): Promise<FreshThread> {
    const desk = new AskDesk();
    const thread = await this.#codex.startThread(freshThreadOptions(call, desk, this.#approvals), options);
    return { thread, desk, pid: this.#codex.pid };
  }

  /** A thread that was started ahead, if it is still there: it lived in the memory of its codex. */
  async #takeReady(call: Call): Promise<FreshThread | undefined> {
    const ready = this.#ready.take(threadKind(call))?.catch(() => undefined);
    if (!ready) return undefined;
    try {
      const fresh = await orAborted(ready, call.signal);
      return fresh?.pid === this.#codex.pid ? fresh : undefined;
    } catch (error) {
      void ready.then((fresh) => fresh && closeUnused(fresh));
      throw error;
    }
  }

  #hold(
    thread: Thread,
    desk: AskDesk,
    call: Call,
    more: Pick<SessionOptions, "isStored" | "isEmpty" | "tools">,
  ): Session {
    const { instructions } = call;
    const waitMs = this.#approvals.parkedTurnMs;
    const kind = threadKind(call);
    const settings = lastingSettings(call);
    const session = new Session({ thread, desk, kind, instructions, settings, waitMs, ...more });
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
  thread.close().catch(() => {}); // Its server may be gone.
}
