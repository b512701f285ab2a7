import { StoreError } from "@codexkit/store";
import type { NewSessionEvent } from "../src/api/event.ts";
import type { PendingCommand } from "../src/commands/command-store.ts";
import type { Database } from "../src/database.ts";
import { notificationKeys } from "../src/database/notifications.ts";
import type { Ownership } from "../src/database/ownership.ts";
import type { FileService } from "../src/files/file-service.ts";
import { errorToProblem } from "../src/sessions/problems.ts";
import { NO_FLEET_STATUS, type Runner, type RunnerStatus } from "../src/sessions/runner.ts";

type Deltas = Extract<NewSessionEvent, { type: "item.delta" }>;

/**
 * Executes commands on a real database without Codex, for tests of the HTTP layer: a message starts a turn that repeats its
 * text.
 */
export class EchoRunner implements Runner {
  readonly #database: Database;
  readonly #owned = new Map<string, Ownership>();
  readonly #nodeName: string;
  readonly #files: FileService;
  #state: RunnerStatus["state"] = "stopped";
  #nodeId = "";
  #work: Promise<void> = Promise.resolve();
  #subscription: Disposable | undefined;
  #turns = 0;
  /** The runner's status. */
  isFrozen = false;

  constructor(database: Database, nodeName: string, files: FileService) {
    this.#database = database;
    this.#files = files;
    this.#nodeName = nodeName;
  }

  async start(): Promise<void> {
    const name = this.#nodeName;
    this.#nodeId = await this.#database.nodes.register({ name, version: "0", codexVersion: "0.166.0" });
    this.#subscription = this.#database.store.notifier.subscribe(notificationKeys.ready, () =>
      this.#schedule(),
    );
    this.#state = "running";
  }

  async releaseSessions(): Promise<void> {
    await this.drain();
  }

  async drain(): Promise<void> {
    this.#state = "draining";
    this.#subscription?.[Symbol.dispose]();
    await this.#work;
  }

  async close(): Promise<void> {
    await this.drain();
    this.#state = "closed";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get status(): RunnerStatus {
    return {
      state: this.#state,
      nodeId: this.#nodeId,
      sessions: this.#owned.size,
      runningTurns: 0,
      openApprovals: 0,
      appServers: [],
      turns: { completed: this.#turns, failed: 0, interrupted: 0 },
      appServerRestarts: 0,
      recoveredSessions: 0,
      fleet: { ...NO_FLEET_STATUS, isFrozen: this.isFrozen },
    };
  }

  onChange(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  async models() {
    return [];
  }

  async account() {
    return { account: null, requiresOpenaiAuth: false };
  }

  async quotas() {
    return [];
  }

  async searchFiles() {
    return [];
  }

  credentialStatus() {
    return { kind: "none", source: null } as const;
  }

  /** The claim on a session, with which tests can append events. */
  owner(sessionId: string): Ownership {
    const owner = this.#owned.get(sessionId);
    if (!owner) throw new Error(`The runner does not own ${sessionId}.`);
    return owner;
  }

  /** Claims sessions without an owner, as the poll of a runner does. */
  async claim(): Promise<void> {
    this.#schedule();
    await this.#work;
  }

  #schedule(): void {
    this.#work = this.#work
      .then(async () => this.#workOnce())
      .catch((error: unknown) => {
        // The next hint or poll retries.
        if (!StoreError.is(error)) throw error;
      });
  }

  async #workOnce(): Promise<void> {
    if (this.#state !== "running") return;
    const { sessions, commands } = this.#database;
    const name = this.#nodeName;
    const claimed = await sessions.claim({
      nodeId: this.#nodeId,
      name,
      limit: 1000,
      labels: [`node:${name}`],
      codexVersion: "0.166.0",
    });
    for (const session of claimed) {
      this.#owned.set(session.sessionId, session);
      const key = notificationKeys.commands(session.sessionId);
      this.#database.store.notifier.subscribe(key, () => this.#schedule());
    }
    for (const owner of this.#owned.values()) {
      for (const command of await commands.pending(owner.sessionId)) {
        if (this.#owned.has(owner.sessionId)) await this.#execute(owner, command);
      }
    }
  }

  async #execute(owner: Ownership, command: PendingCommand): Promise<void> {
    const { commands, sessions } = this.#database;
    await commands.begin(owner, command.id);
    switch (command.kind) {
      case "create": {
        const changes = { threadId: `thread-${owner.sessionId}`, phase: "idle" } as const;
        return commands.finish(owner, command.id, { ok: true }, { changes });
      }
      case "message": {
        const text = typeof command.body.input === "string" ? command.body.input : "parts";
        const changes = { phase: "idle" } as const;
        const turnId = `turn-${++this.#turns}`;
        return commands.finish(
          owner,
          command.id,
          { ok: true, turnId },
          { changes, events: turnEvents(owner.sessionId, turnId, text) },
        );
      }
      case "writeFile": {
        const { id, key, body } = command;
        const { sessionId } = owner;
        const cwd = (await sessions.require(sessionId)).cwd;
        const result = await this.#files.write({ id, sessionId, key, cwd, body, mayBeDone: false }).then(
          (written) => ({ ...written, ok: true as const }),
          (error: unknown) => ({ ok: false as const, problem: errorToProblem(error) }),
        );
        await commands.finish(owner, id, result);
        return this.#files.staging.remove({ sessionId, key, sha256: body.sha256 });
      }
      case "rename": {
        return commands.finish(owner, command.id, { ok: true }, { changes: { name: command.body.name } });
      }
      case "delete": {
        await commands.finish(
          owner,
          command.id,
          { ok: true },
          {
            changes: { phase: "deleted" },
            events: [{ type: "session.deleted" }],
          },
        );
        this.#owned.delete(owner.sessionId);
        await sessions.release(owner);
        return;
      }
      default: {
        await commands.finish(owner, command.id, { ok: true });
      }
    }
  }
}

function turnEvents(sessionId: string, turnId: string, text: string): NewSessionEvent[] {
  const threadId = `thread-${sessionId}`;
  const itemId = `item-${turnId}`;
  const base = { threadId, turnId };
  const item = { type: "agentMessage", id: itemId, text, phase: null, memoryCitation: null };
  const deltas = text.split("").map((delta, offset): Deltas => ({
    type: "item.delta",
    ...base,
    itemId,
    kind: "message",
    delta,
    offset,
  }));
  return [
    { type: "turn.started", ...base },
    { type: "item.started", ...base, item: { ...item, text: "" } } as NewSessionEvent,
    ...deltas,
    { type: "item.completed", ...base, item } as NewSessionEvent,
    {
      type: "turn.completed",
      ...base,
      result: { ...base, status: "completed", finalResponse: text, items: [item], diff: "", plan: [] },
    } as unknown as NewSessionEvent,
  ];
}
