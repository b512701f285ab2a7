import type { SessionChanges } from "../../../daemon/src/database/session-columns.ts";
import type { NewSessionEvent } from "../../../daemon/src/api/event.ts";
import type { NewApproval } from "../../../daemon/src/inbox/new-approval.ts";

export interface SessionWriter {
  append(events: readonly NewSessionEvent[], changes?: SessionChanges): Promise<void>;
  ask(approval: NewApproval): Promise<string>;
}

/** Events of one transaction. */
const BATCH = 1000;

export const OFFERS = [
  { id: "accept", label: "Allow once", accepts: true, scope: "call", stores: null },
  { id: "acceptForSession", label: "Allow for this session", accepts: true, scope: "session", stores: null },
  { id: "decline", label: "Decline", accepts: false, scope: "call", stores: null },
  { id: "cancel", label: "Decline and stop the turn", accepts: false, scope: "call", stores: null },
];

/** Writes the events of a session, as Codex would have caused them. */
export class FakeSession {
  readonly id: string;
  readonly threadId: string;
  readonly #writer: SessionWriter;
  #turns = 0;
  #items = 0;

  constructor(id: string, writer: SessionWriter) {
    this.id = id;
    this.threadId = `thread-${id}`;
    this.#writer = writer;
  }

  /** Appends any events. */
  async append(events: readonly object[], changes?: SessionChanges): Promise<void> {
    for (let at = 0; at < events.length; at += BATCH) {
      await this.#writer.append(events.slice(at, at + BATCH) as readonly NewSessionEvent[], changes);
    }
  }

  /** Starts a turn with a message of the person. */
  async startTurn(text: string): Promise<FakeTurn> {
    this.#turns += 1;
    const turn = new FakeTurn(this, `turn-${this.#turns}`);
    await this.append([{ type: "turn.started", ...turn.ids }], {
      phase: "running",
      activeTurnId: turn.id,
    });
    await turn.add({ type: "userMessage", content: [{ type: "text", text, textElements: [] }] });
    return turn;
  }

  /** A complete turn with one answer. */
  async exchange(question: string, answer: string): Promise<void> {
    const turn = await this.startTurn(question);
    await turn.say(answer);
    await turn.complete(answer);
  }

  /** Opens an approval or a question. Returns its ID. */
  async ask(
    request: { readonly kind: string } & Record<string, unknown>,
    more: Partial<NewApproval> = {},
  ): Promise<string> {
    this.#items += 1;
    return this.#writer.ask({
      threadId: this.threadId,
      requestId: this.#items,
      kind: request.kind,
      fingerprint: `request-${this.#items}`,
      request,
      offers: OFFERS,
      ...more,
    });
  }

  /** Asks to run a command, with a verdict of the policy. */
  async askForCommand(command: string, more: Partial<NewApproval> = {}): Promise<string> {
    return this.ask(
      {
        kind: "command",
        action: "execute",
        command,
        cwd: "/work/app",
        reason: "needs the database to run the tests",
        network: null,
        additionalPermissions: null,
      },
      {
        verdict: {
          decision: "ask",
          reason: "no rule names docker; default is ask",
          rule: "default/ask",
          segments: command.split(" && ").map((segment) => ({
            command: segment,
            parent: -1,
            decision: segment.startsWith("docker") ? "ask" : "allow",
            reason: segment.startsWith("docker") ? "no rule names docker" : "package scripts",
            rule: segment.startsWith("docker") ? "default/ask" : "developer/scripts",
          })),
        },
        ...more,
      },
    );
  }

  nextItemId(): string {
    this.#items += 1;
    return `item-${this.#items}`;
  }
}

/** A running turn. */
export class FakeTurn {
  readonly id: string;
  readonly session: FakeSession;

  constructor(session: FakeSession, id: string) {
    this.session = session;
    this.id = id;
  }

  get ids(): { readonly threadId: string; readonly turnId: string } {
    return { threadId: this.session.threadId, turnId: this.id };
  }

  /** A completed item. Returns its ID. */
  async add(item: { readonly type: string } & Record<string, unknown>): Promise<string> {
    const id = this.session.nextItemId();
    const full = { id, ...item };
    await this.session.append([
      { type: "item.started", ...this.ids, item: full },
      { type: "item.completed", ...this.ids, item: full },
    ]);
    return id;
  }

  /** A message of the agent in one or more deltas. */
  async say(...deltas: readonly string[]): Promise<void> {
    const message = await this.beginMessage();
    await message.write(deltas);
    await message.end();
  }

  async beginMessage(): Promise<FakeMessage> {
    const id = this.session.nextItemId();
    const message = new FakeMessage(this, id);
    await this.session.append([{ type: "item.started", ...this.ids, item: message.item }]);
    return message;
  }

  /** A command that has run. */
  async run(command: string, output: string, exitCode = 0): Promise<string> {
    return this.add({
      type: "commandExecution",
      command,
      cwd: "/work/app",
      processId: null,
      source: "agent",
      status: exitCode === 0 ? "completed" : "failed",
      commandActions: [{ type: "unknown", command }],
      aggregatedOutput: output,
      exitCode,
      durationMs: 1200,
    });
  }

  async patch(path: string, diff: string): Promise<string> {
    return this.add({
      type: "fileChange",
      status: "completed",
      changes: [{ path, kind: { type: "update", move_path: null }, diff }],
    });
  }

  async complete(finalResponse = ""): Promise<void> {
    await this.#end("turn.completed", "completed", finalResponse, {});
  }

  async interrupt(): Promise<void> {
    await this.#end("turn.interrupted", "interrupted", "", {});
  }

  /** Codex ends in the middle of the turn. */
  async fail(detail: string, more: object = {}): Promise<void> {
    const problem = { type: "codex_failed" as const, title: "Codex failed", status: 502, detail, ...more };
    await this.#end("turn.failed", "failed", "", { problem }, { phase: "failed", problem });
  }

  async #end(
    type: string,
    status: string,
    finalResponse: string,
    more: object,
    changes: SessionChanges = { phase: "idle" },
  ): Promise<void> {
    const result = { ...this.ids, status, finalResponse, diff: "", plan: [], usage: USAGE };
    await this.session.append([{ type, ...this.ids, result, ...more }], { ...changes, activeTurnId: null });
  }
}

const USAGE = {
  totalTokens: 1500,
  inputTokens: 1200,
  cachedInputTokens: 800,
  cacheWriteInputTokens: 0,
  outputTokens: 300,
  reasoningOutputTokens: 100,
};

/** A message that the agent is writing. */
export class FakeMessage {
  readonly #turn: FakeTurn;
  readonly id: string;
  #text = "";

  constructor(turn: FakeTurn, id: string) {
    this.#turn = turn;
    this.id = id;
  }

  get item(): object {
    return { type: "agentMessage", id: this.id, text: this.#text, phase: null, memoryCitation: null };
  }

  get text(): string {
    return this.#text;
  }

  async write(deltas: readonly string[]): Promise<void> {
    const events = deltas.map((delta) => {
      const offset = this.#text.length;
      this.#text += delta;
      return { type: "item.delta", ...this.#turn.ids, itemId: this.id, kind: "message", delta, offset };
    });
    await this.#turn.session.append(events);
  }

  async end(): Promise<void> {
    await this.#turn.session.append([{ type: "item.completed", ...this.#turn.ids, item: this.item }]);
  }
}
