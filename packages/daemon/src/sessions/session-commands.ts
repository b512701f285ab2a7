import type { Thread } from "codexkit";
import type { CommandBody } from "../api/command.ts";
import type { Ownership } from "../database/ownership.ts";
import type { Problem } from "../api/problem.ts";
import type { CommandResult, PendingCommand, FinishOptions } from "../commands/command-store.ts";
import { type AcceptedMessages, findMessage } from "./accepted-messages.ts";
import type { CommandContext, Step } from "./command-executor.ts";
import type { CommandQueue } from "./command-queue.ts";
import { deleteSession } from "./delete-session.ts";
import { forkSession } from "./fork-session.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { errorToProblem } from "./problems.ts";
import { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionParking } from "./session-parking.ts";
import type { SessionState } from "./session-state.ts";
import type { SessionThread } from "./session-thread.ts";
import type { ThreadLoader } from "./thread-loader.ts";
import type { UsageLimits } from "./usage-limits.ts";

export interface SessionCommandsDeps {
  readonly session: SessionDeps;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly thread: SessionThread;
  readonly loader: ThreadLoader;
  readonly load: () => Promise<LoadedThread>;
  /** Interrupts the running turn. */
  readonly interrupt: () => Promise<void>;
  readonly queue: () => CommandQueue;
  readonly accepted: AcceptedMessages;
  readonly approvals: SessionApprovals;
  readonly parking: SessionParking;
  readonly limits: UsageLimits;
  readonly rollouts: RolloutShipper;
  readonly onWarning: (error: unknown, message: string) => void;
}

/** The parts of a session that its commands use. */
export class SessionCommands implements CommandContext {
  readonly #deps: SessionCommandsDeps;

  constructor(deps: SessionCommandsDeps) {
    this.#deps = deps;
  }

  get state(): SessionState {
    return this.#deps.state;
  }

  get loaded(): LoadedThread | undefined {
    return this.#deps.thread.loaded;
  }

  get limitReached(): Problem | undefined {
    return this.#deps.limits.reached;
  }

  load(): Promise<LoadedThread> {
    return this.#deps.load();
  }

  hasParked(): Promise<boolean> {
    return this.#deps.parking.requests.exist();
  }

  endParked(note: string, how: "report" | "interrupt"): Promise<void> {
    return this.#deps.parking.requests.end(note, how);
  }

  park(reason: "request"): Promise<number> {
    return this.#deps.parking.park(reason);
  }

  begin(command: PendingCommand): Promise<void> {
    return this.#deps.queue().begin(command);
  }

  mayHaveBeenSent(command: PendingCommand): boolean {
    return this.#deps.queue().mayHaveBeenSent(command);
  }

  untilAccepted(commandId: string, turnId: string): Promise<string | undefined> {
    return this.#deps.accepted.wait(commandId, turnId);
  }

  findMessage(thread: Thread, commandId: string): Promise<string | undefined> {
    const { database, codexHome } = this.#deps.session;
    const { sessionId } = this.state;
    return findMessage(thread, commandId, { sessionId, rollouts: database.rollouts, codexHome });
  }

  unqueue(commandId: string): Promise<boolean> {
    return this.#deps.queue().unqueue(commandId);
  }

  async readImage(imageId: string): Promise<string> {
    const { images } = this.#deps.session.files;
    const { contents, type } = await images.read(this.state.sessionId, imageId);
    return `data:${type};base64,${contents.toString("base64")}`;
  }

  async writeFile(command: PendingCommand & { readonly kind: "writeFile" }): Promise<Step> {
    const { files } = this.#deps.session;
    const { id, key, body } = command;
    const { sessionId, cwd } = this.state;
    const mayBeDone = this.mayHaveBeenSent(command);
    await this.begin(command);
    let result: CommandResult;
    try {
      result = { ...(await files.write({ id, sessionId, key, cwd, body, mayBeDone })), ok: true };
    } catch (error) {
      result = { ok: false, problem: errorToProblem(error) };
    }
    return { result, after: () => files.staging.remove({ sessionId, key, sha256: body.sha256 }) };
  }

  settingsChanged(): void {
    this.#deps.limits.update(this.state.settings);
  }

  async fork(body: CommandBody<"fork">, command: PendingCommand): Promise<Step> {
    const { thread } = await this.load();
    await this.begin(command);
    const { database, codexHome } = this.#deps.session;
    const { sessions, commands, rollouts } = database;
    return forkSession(thread, this.state, {
      ship: async ({ sessionId, thread: fork }) => {
        const { path } = await fork.read();
        const shipper = new RolloutShipper(rollouts, { ...this.#deps.owner, sessionId }, codexHome);
        if (path !== null) await shipper.follow(fork.id, path, "main");
        // The copy continues the session's own files, whose newest lines may not be stored yet.
        const steps = [this.#deps.rollouts.collectAll().also, shipper.collectAll().also];
        return async (trx) => {
          for (const step of steps) await step?.(trx);
        };
      },
      body,
      commandId: command.id,
      by: command.by,
      sessions,
      commands,
    });
  }

  async deleteSession(): Promise<Step> {
    const { session, approvals, interrupt, onWarning } = this.#deps;
    await interrupt();
    const queue = this.#deps.queue();
    return deleteSession(this.state, this.loaded, { pool: session.pool, approvals, queue, onWarning });
  }

  async followRevert(): Promise<Pick<FinishOptions, "also">> {
    return this.loaded ? this.#deps.loader.followRevert(this.loaded.thread) : {};
  }
}
