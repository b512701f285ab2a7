import type { Thread } from "codexkit";
import type { InboxRequest } from "../api/approval.ts";
import { createProblem } from "../api/problem.ts";
import type { SessionSettings } from "../api/settings.ts";
import { commandResult } from "../commands/command-store.ts";
import type { Database } from "../database.ts";
import type { Ownership } from "../database/ownership.ts";
import type { ApprovalRow, CommandRow } from "../database/tables.ts";
import { INTERRUPTED_TURN } from "../journal/commit.ts";
import { findMessage } from "./accepted-messages.ts";
import type { CutTurn } from "./recover.ts";
import type { SessionState } from "./session-state.ts";

/** Number of successive continuations that may be cut off without completing an item. Another one would probably fail too. */
const MAX_FRUITLESS = 3;

const BY = "daemon";
const QUESTION = "continue";
const CONTINUE = "Continue";
const STOP = "Stop";

const CONTINUE_TEXT = `The previous turn was cut off: the process or the machine that ran it has ended. Commands and changes that it had begun may have been carried out completely, in part, or not at all.
First look at the present state of the files, and of anything else that the turn was changing. Don't repeat what was already done. Then go on with the task.`;

export interface InterruptedTurnDeps {
  readonly database: Database;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly codexHome: string;
  readonly thread: () => Thread | undefined;
}

/** Whether the session reacts to a turn that is cut off. */
export function reactsToInterruption({ onInterrupted = "stop" }: SessionSettings): boolean {
  return onInterrupted !== "stop";
}

/** Whether the owner must react to a turn that was cut off. False if a person had already interrupted it. */
export async function mustReact(
  database: Database,
  state: SessionState,
  { id: turnId, messageId }: CutTurn,
): Promise<boolean> {
  if (!reactsToInterruption(state.settings)) return false;
  const { sessionId } = state;
  if (messageId !== undefined) return wasCut(database, sessionId, messageId);
  const interrupt = await database.store.db
    .selectFrom("command")
    .innerJoin("turn", "turn.session_id", "command.session_id")
    .select("command.id")
    .where("command.session_id", "=", sessionId)
    .where("command.kind", "=", "interrupt")
    .where("turn.turn_id", "=", turnId)
    .whereRef("command.created_at", ">=", "turn.started_at")
    .executeTakeFirst();
  return interrupt === undefined;
}

/**
 * Whether a turn that the journal does not have was cut off. It was not if it was started by another program, or if a person has
 * interrupted the session since its message was sent.
 */
async function wasCut({ store }: Database, sessionId: string, messageId: string): Promise<boolean> {
  const commands = await store.db
    .selectFrom("command")
    .select("kind")
    .where("session_id", "=", sessionId)
    .where((where) => where.or([where("id", "=", messageId), where("kind", "=", "interrupt")]))
    .where("created_at", ">=", (where) =>
      where
        .selectFrom("command as message")
        .select("message.created_at")
        .where("message.session_id", "=", sessionId)
        .where("message.id", "=", messageId),
    )
    .execute();
  return commands.length > 0 && commands.every(({ kind }) => kind === "message");
}

/**
 * Reacts to a turn that was cut off exactly once, as the session's settings say. The next owner can repeat each step; the last step
 * clears `interruptedTurnId`.
 */
export class InterruptedTurn {
  readonly #deps: InterruptedTurnDeps;

  constructor(deps: InterruptedTurnDeps) {
    this.#deps = deps;
  }

  async react(): Promise<void> {
    const { state } = this.#deps;
    const turnId = state.interruptedTurnId;
    if (turnId === undefined) return;
    const { onInterrupted = "stop" } = state.settings;
    const entry = await this.#findEntry(turnId);
    // If a person was asked, the answer counts, even if the settings have changed since.
    if (entry) await this.#follow(entry, turnId);
    else if (onInterrupted === "continue") await this.#continue(turnId);
    else if (onInterrupted === "ask" && !(await this.#hasMessage())) await this.#ask(turnId);
    else await this.#finish();
  }

  /** Follows the person's decision, or withdraws the question if a message was sent instead. */
  async #follow(entry: ApprovalRow, turnId: string): Promise<void> {
    const { database, owner } = this.#deps;
    if (entry.state === "parked") {
      if (!(await this.#hasMessage())) return;
      await database.inbox.withdraw(owner, entry.id, "A new message was sent instead of an answer.");
    } else if (entry.state === "answered") {
      if (wantsToContinue(entry)) await this.#submit(turnId, 0);
      await database.inbox.delivered(owner, entry.id);
    }
    await this.#finish();
  }

  async #continue(turnId: string): Promise<void> {
    const last = await this.#lastContinuation();
    if (last?.turnId !== turnId) {
      const fruitless = last ? await this.#countFruitless(last, turnId) : 0;
      if (fruitless >= MAX_FRUITLESS) {
        await this.#giveUp();
        return;
      }
      await this.#submit(turnId, fruitless);
    }
    await this.#finish();
  }

  /** Counts the successive continuations that completed nothing, including the turn that was cut off last. */
  async #countFruitless(last: Continuation, turnId: string): Promise<number> {
    const { database, state, codexHome } = this.#deps;
    const { rollouts } = database;
    const files = { sessionId: state.sessionId, rollouts, codexHome };
    const result = commandResult(last.command);
    const thread = this.#deps.thread();
    const startedTurn =
      result?.ok === true ? result["turnId"] : thread && (await findMessage(thread, last.command.id, files));
    if (startedTurn !== turnId) return 0;
    const items = await database.journal.items(state.sessionId, { turnId, limit: 1_000 });
    const isDone = items.some(({ kind, status }) => kind !== "userMessage" && status === "completed");
    return isDone ? 0 : last.fruitless + 1;
  }

  async #lastContinuation(): Promise<Continuation | undefined> {
    const { database, owner } = this.#deps;
    const command = await database.store.db
      .selectFrom("command")
      .selectAll()
      .where("session_id", "=", owner.sessionId)
      .where("by", "=", BY)
      .where("key", "like", "continue:%")
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (!command) return undefined;
    const [, fruitless, ...turnId] = command.key.split(":");
    return { command, fruitless: Number(fruitless), turnId: turnId.join(":") };
  }

  /**
   * Submits the continuation, at most once per turn: a repeated key finds the existing command. It precedes waiting messages, which
   * are meant to follow the turn.
   */
  async #submit(turnId: string, fruitless: number): Promise<void> {
    const { database, owner } = this.#deps;
    await database.commands.submit(
      {
        sessionId: owner.sessionId,
        key: `continue:${fruitless}:${turnId}`,
        kind: "message",
        body: { input: CONTINUE_TEXT, mode: "queue" },
        by: BY,
      },
      { isFirst: true },
    );
  }

  async #ask(turnId: string): Promise<void> {
    const { database, owner, state } = this.#deps;
    const request: InboxRequest = {
      kind: "userInput",
      isBlocking: true,
      questions: [
        {
          id: QUESTION,
          header: "Turn cut off",
          question:
            "The turn was cut off because its process or its machine has ended. Some of its commands may have run partly. How should the session continue?",
          isOther: false,
          isSecret: false,
          options: [
            { label: CONTINUE, description: "The agent checks what was done, and continues with the task." },
            { label: STOP, description: "The session waits for your next message." },
          ],
        },
      ],
    };
    await database.inbox.ask(owner, {
      threadId: state.threadId ?? "",
      turnId,
      requestId: fingerprintOf(turnId),
      kind: INTERRUPTED_TURN,
      fingerprint: fingerprintOf(turnId),
      request,
      offers: [],
    });
  }

  async #giveUp(): Promise<void> {
    const { database, owner, state } = this.#deps;
    const detail = `The turn was continued ${MAX_FRUITLESS} times, and each time cut off before anything was completed. Find out what ends its process, then send a message.`;
    const problem = createProblem("codex_failed", detail, { code: "continued_too_often" });
    state.interruptedTurnId = undefined;
    await database.sessions.update(owner, { problem, interruptedTurnId: null }, [
      { type: "session.updated", changes: { problem } },
    ]);
  }

  async #finish(): Promise<void> {
    const { database, owner, state } = this.#deps;
    await database.sessions.update(owner, { interruptedTurnId: null });
    state.interruptedTurnId = undefined;
  }

  async #findEntry(turnId: string): Promise<ApprovalRow | undefined> {
    const { database, owner } = this.#deps;
    return database.store.db
      .selectFrom("approval")
      .selectAll()
      .where("session_id", "=", owner.sessionId)
      .where("kind", "=", INTERRUPTED_TURN)
      .where("fingerprint", "=", fingerprintOf(turnId))
      .executeTakeFirst();
  }

  /** Whether a message is waiting to be sent. */
  async #hasMessage(): Promise<boolean> {
    const { database, owner } = this.#deps;
    return (await database.commands.pending(owner.sessionId)).some(({ kind }) => kind === "message");
  }
}

interface Continuation {
  readonly command: CommandRow;
  readonly fruitless: number;
  /** ID of the turn that it continues. */
  readonly turnId: string;
}

function fingerprintOf(turnId: string): string {
  return `interrupted:${turnId}`;
}

function wantsToContinue({ answer }: ApprovalRow): boolean {
  const { answers = {} } = JSON.parse(answer ?? "{}") as { answers?: Record<string, string | string[]> };
  return [answers[QUESTION]].flat().includes(CONTINUE);
}
