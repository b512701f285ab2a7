import type { SharedV4Warning } from "@ai-sdk/provider";
import { type Codex, CodexError, type Thread } from "codexkit";
import type { ApprovalSettings } from "../approval/approval-handlers.ts";
import { limits } from "../limits.ts";
import type { Call } from "../model/read-call.ts";
import { clientTools, toolFingerprints } from "../tools/client-tools.ts";
import { AskDesk } from "./ask-desk.ts";
import { Session, type SessionOptions } from "./session.ts";
import { freshThreadOptions, lastingSettings, threadOptions } from "./thread-options.ts";

/** The thread for a call. */
export interface Opened {
  readonly session: Session;
  readonly warnings: readonly SharedV4Warning[];
}

/** Why a thread can't be gone on with: what is left are the messages, which are put into another one. */
const GONE = new Set<unknown>(["thread_not_found", "thread_lost", "thread_locked", "closed"]);

export function isGone(error: unknown): boolean {
  return error instanceof CodexError && GONE.has(error.code);
}

/** The same of a resume or a copy, which Codex also refuses in other words: of a thread that it is just closing, for one. */
export function isRefused(error: unknown): boolean {
  return isGone(error) || (error instanceof CodexError && error.code === "request_failed");
}

/** Whether a codex died, or broke its connection, before it took a call. */
export function isLost(error: unknown): boolean {
  return (
    error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "connection_lost")
  );
}

/** The threads of one codex that this provider holds, and how a call comes to its own. */
export class Sessions {
  readonly #codex: Codex;
  readonly #approvals: ApprovalSettings;
  /** The least recently used first. */
  readonly #held = new Map<string, Session>();

  constructor(codex: Codex, approvals: ApprovalSettings) {
    this.#codex = codex;
    this.#approvals = approvals;
  }

  get approvals(): ApprovalSettings {
    return this.#approvals;
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

  /** A thread by its id, held or stored. */
  async resume(threadId: string, call: Call, desk = new AskDesk()): Promise<Session> {
    const held = this.#held.get(threadId);
    if (held) return this.#use(held);
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

  /** Lets go of the threads that nobody has used for longest. */
  trim(): void {
    const idle = [...this.#held.values()].filter((session) => session.isIdle);
    for (const session of idle.slice(0, Math.max(0, idle.length - limits.idleThreads))) this.drop(session);
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
    const session = new Session({ thread, desk, instructions, settings: lastingSettings(call), ...more });
    this.#held.set(thread.id, session);
    return session;
  }

  #use(session: Session): Session {
    this.#held.delete(session.thread.id);
    this.#held.set(session.thread.id, session);
    return session;
  }
}
