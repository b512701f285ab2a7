import type { SharedV4Warning } from "@ai-sdk/provider";
import type { Codex, Thread } from "codexkit";
import type { ApprovalSettings } from "../approval/approval-handlers.ts";
import { limits } from "../limits.ts";
import type { Call } from "../model/read-call.ts";
import { orAborted } from "../or-aborted.ts";
import { clientTools, toolFingerprints } from "../tools/client-tools.ts";
import { AskDesk } from "./ask-desk.ts";
import { Session, type SessionOptions } from "./session.ts";
import { freshThreadOptions, lastingSettings, threadOptions } from "./thread-options.ts";

/** The thread for a call. */
export interface Opened {
  readonly session: Session;
  readonly warnings: readonly SharedV4Warning[];
}

/** The threads of one codex that this provider holds, and how a call comes to its own. */
export class Sessions {
  readonly #codex: Codex;
  readonly #approvals: ApprovalSettings;
  /** The least recently used first. */
  readonly #held = new Map<string, Session>();
  readonly #resuming = new Map<string, Promise<Session>>();

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
    const desk = new AskDesk();
    const options = freshThreadOptions(call, desk, this.#approvals);
    const thread = await this.#codex.startThread(options, call.callOptions);
    const tools = toolFingerprints(call.tools);
    const session = this.#hold(thread, desk, call, {
      isStored: call.options.persist === true,
      isEmpty: history.items.length === 0,
      tools,
    });
    if (history.items.length > 0) await thread.inject([...history.items], call.callOptions);
    return { session, warnings: [...warnings, ...history.warnings] };
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
    await Promise.allSettled(sessions.map((session) => session.close(options)));
  }

  #hold(
    thread: Thread,
    desk: AskDesk,
    call: Call,
    more: Pick<SessionOptions, "isStored" | "isEmpty" | "tools">,
  ): Session {
    const { instructions } = call;
    const waitMs = this.#approvals.parkedTurnMs;
    const settings = lastingSettings(call);
    const session = new Session({ thread, desk, instructions, settings, waitMs, ...more });
    this.#held.set(thread.id, session);
    return session;
  }

  #use(session: Session): Session {
    this.#held.delete(session.thread.id);
    this.#held.set(session.thread.id, session);
    return session;
  }
}
