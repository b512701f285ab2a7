import type { ClientRequests, JsonValue, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { abortedError, CodexError } from "../errors.ts";
import type { CodexEvent } from "../events/event.ts";
import { checkSignal, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import { type Input, toUserInput } from "../turn/input.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { raceAbort, withTimeout } from "@codexkit/rpc/async";
import type { OutputSchema } from "../schema/json-output-schema.ts";
import { prepareOutputSchema } from "../schema/prepare-output-schema.ts";
import { STEER, type SteerOptions, Turn, TURN_CALL, type TurnCallOptions } from "../turn/turn.ts";
import type { Agent } from "../routing/agent-tree.ts";
import { ThreadGoal } from "./goal.ts";
import { ThreadHistory } from "./history.ts";
import { ThreadQueue } from "./queue.ts";
import { checkWhenBusy, RUN, type RunOptions } from "./run-options.ts";
import { ThreadTerminals } from "./terminals.ts";
import {
  createThreadCaller,
  STORED,
  type ThreadCaller,
  type ThreadMethod,
  type ThreadParams,
} from "./thread-caller.ts";
import type { ThreadChannel } from "../routing/thread-channel.ts";
import {
  checkCwd,
  type ForkThreadOptions,
  SHELL,
  type ShellOptions,
  THREAD_EVENTS,
  type ThreadEventsOptions,
  type ThreadSettings,
  UPDATE_SETTINGS,
} from "./thread-options.ts";
import { type StarterCaller, TurnStarter } from "./turn-starter.ts";

/** What a thread uses of its `Codex`. */
export interface ThreadHost {
  /** Whether the server shares this file system. */
  readonly local: boolean;
  readonly caller: Caller;
  /** Resolves when the current server has loaded this thread. A restarted server resumes it first. */
  loaded(threadId: string): Promise<void>;
  fork(threadId: string, options: ForkThreadOptions, call: CallOptions): Promise<Thread>;
  agentsBelow(threadId: string): Agent[];
  events(
    channel: ThreadChannel,
    options: ThreadEventsOptions,
  ): AsyncIterableIterator<CodexEvent, undefined, undefined>;
  release(threadId: string): Promise<void>;
}

/** Time for a turn to start after the server accepted the request that starts it. */
const TURN_BEGIN_LIMIT_MS = 30_000;

/** A conversation with Codex. */
export class Thread implements AsyncDisposable {
  readonly id: string;
  /** Earlier turns and items. */
  readonly history: ThreadHistory;
  /** Codex's queue of this thread. */
  readonly queue: ThreadQueue;
  readonly goal: ThreadGoal;
  /** Commands left running in the background. */
  readonly terminals: ThreadTerminals;
  /** Settings at the time of the start or resume. Events report later changes. */
  readonly settings: ThreadSettings;
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #starter: TurnStarter;
  readonly #caller: ThreadCaller;

  constructor(host: ThreadHost, channel: ThreadChannel, settings: ThreadSettings) {
    this.id = channel.threadId;
    this.settings = settings;
    this.#host = host;
    this.#channel = channel;
    this.#starter = new TurnStarter(this.#loadedCaller(), channel);
    this.#caller = createThreadCaller(this, { cwd: settings.cwd, local: host.local });
    this.history = new ThreadHistory(this.#caller);
    this.queue = new ThreadQueue(this.#caller);
    this.goal = new ThreadGoal(this.#caller);
    this.terminals = new ThreadTerminals(this.#caller);
  }

  get cwd(): string {
    return this.settings.cwd;
  }

  /** Whether a turn is running on this thread, started by any client. */
  get busy(): boolean {
    return this.#channel.activeTurn !== undefined;
  }

  /** The agents that this thread started. Each has its own agents in `agents`. */
  get agents(): readonly Agent[] {
    return this.#host.agentsBelow(this.id);
  }

  /** Starts a turn. If one is already running, `whenBusy` decides; by default the call is rejected. */
  run<Output = undefined>(input: Input, options: RunOptions<Output> = {}): Turn<Output> {
    rejectUnknownOptions("run", options, RUN);
    const { outputSchema, signal, whenBusy = "reject", ...settings } = options;
    checkSignal("run", signal);
    checkWhenBusy(whenBusy);
    const loadSchema = outputSchema === undefined ? undefined : prepareOutputSchema(outputSchema);
    let schema: OutputSchema<Output> | undefined;
    if (settings.cwd !== undefined && settings.cwd !== null) checkCwd(settings.cwd, this.#host.local);
    const begin = async (cancelled: AbortSignal): Promise<LiveTurn> => {
      schema = await loadSchema?.();
      const params = {
        input: await toUserInput(input, this.#caller.inputContext),
        ...settings,
        ...(schema ? { outputSchema: schema.wire } : {}),
      };
      return this.#starter.start({ params, whenBusy, signal, cancelled });
    };
    return this.#turn(begin, {
      ...(loadSchema ? { parse: (text: string) => schema?.parse(text) as Output } : {}),
      ...(signal ? { signal } : {}),
    });
  }

  /** Returns a running turn that another client started. Rejects with `turn_not_active` if it is not running. */
  attach(turnId: string, options: TurnCallOptions = {}): Turn {
    rejectUnknownOptions("attach", options, TURN_CALL);
    return this.#turn(async () => {
      const params = { limit: 1, sortDirection: "desc", itemsView: "notLoaded" } as const;
      const { data } = await this.request("thread/turns/list", params, options);
      if (data.some(({ id, status }) => id === turnId && status === "inProgress")) {
        return this.#channel.turn(turnId);
      }
      throw new CodexError("turn_not_active", `Turn ${turnId} is not running on this thread.`);
    }, options);
  }

  /** Starts a turn and returns its events, like `@openai/codex-sdk`. `run` offers both events and result. */
  async runStreamed(input: Input, options: RunOptions = {}): Promise<{ events: AsyncIterable<CodexEvent> }> {
    const turn = this.run(input, options);
    await turn.id;
    return { events: turn };
  }

  /** Sends more input to the running turn. Rejects with `turn_not_active` if there is none. */
  async steer(input: Input, options: SteerOptions = {}): Promise<void> {
    rejectUnknownOptions("steer", options, STEER);
    const active = this.#channel.activeTurn;
    if (!active)
      throw new CodexError("turn_not_active", "No turn is running on this thread that could be steered.");
    await this.#steer(active.turnId, input, options);
  }

  /** Stops the running turn, started by any client. No-op if there is none. */
  async interrupt(options: TurnCallOptions = {}): Promise<void> {
    rejectUnknownOptions("interrupt", options, TURN_CALL);
    const active = this.#channel.activeTurn;
    if (active) await this.#turn(() => Promise.resolve(active)).interrupt(options);
  }

  /**
   * Yields the events of this thread from now on, including turns of other clients and late items. With `agents`,
   * includes those of the agents below it; `threadId` names the thread of each event. If the thread was opened with
   * `bufferEvents`, the first call yields all events since then.
   */
  events(options: ThreadEventsOptions = {}): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    rejectUnknownOptions("events", options, THREAD_EVENTS);
    return this.#host.events(this.#channel, options);
  }

  /**
   * Calls the listener for every turn that starts from now on: of this client, the queue, a goal, or another client.
   */
  onTurn(listener: (turn: Turn) => void): Disposable {
    return this.#channel.onTurn((live) => listener(this.#turn(() => Promise.resolve(live))));
  }

  /** Reviews changes and reports problems. */
  review(target: v2.ReviewTarget, options: TurnCallOptions = {}): Turn {
    rejectUnknownOptions("review", options, TURN_CALL);
    return this.#turn(async () => {
      this.#rejectWhenBusy("A review");
      const start = this.#channel.expectStart();
      try {
        const { turn } = await this.request("review/start", { target }, options);
        return start.claim(turn.id);
      } finally {
        start.done();
      }
    }, options);
  }

  /** Compacts the history, as a turn. */
  compact(options: TurnCallOptions = {}): Turn {
    rejectUnknownOptions("compact", options, TURN_CALL);
    return this.#turn(async () => {
      this.#rejectWhenBusy("Compacting");
      return this.#turnStartedBy(() => this.request("thread/compact/start", {}, options), options);
    }, options);
  }

  /** Runs a shell command for the user, **outside the sandbox**, in the running turn or in a new one. */
  shell(command: string, options: ShellOptions = {}): Turn {
    rejectUnknownOptions("shell", options, SHELL);
    const { timeoutMs, ...call } = options;
    const params = timeoutMs === undefined ? { command } : { command, timeoutMs };
    return this.#turn(async () => {
      const active = this.#channel.activeTurn;
      if (!active) return this.#turnStartedBy(() => this.request("thread/shellCommand", params, call), call);
      await this.request("thread/shellCommand", params, call);
      return active;
    }, call);
  }

  /** Copies this thread: all of it, through a turn, or up to one. */
  fork(options: ForkThreadOptions = {}, call: CallOptions = {}): Promise<Thread> {
    return this.#host.fork(this.id, options, call);
  }

  /** Reads the current state of the thread. */
  async read(options: CallOptions = {}): Promise<v2.Thread> {
    return (await this.request("thread/read", { includeTurns: false }, options)).thread;
  }

  async rename(name: string, options: CallOptions = {}): Promise<void> {
    await this.request("thread/name/set", { name }, options);
  }

  async archive(options: CallOptions = {}): Promise<void> {
    await this.request("thread/archive", {}, options);
  }

  async unarchive(options: CallOptions = {}): Promise<void> {
    await this.request("thread/unarchive", {}, options);
  }

  /** Permanently deletes the thread and the threads of its agents. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.request("thread/delete", {}, options);
    await this.#host.release(this.id);
  }

  /** Removes a turn and all later ones from the history. Files are not changed. */
  async revert(beforeTurnId: string, options: CallOptions = {}): Promise<void> {
    this.#rejectWhenBusy("Reverting");
    await this.request("thread/revert", { beforeTurnId }, options);
  }

  /** Appends raw Responses items to the history, without a turn. */
  async inject(items: JsonValue[], options: CallOptions = {}): Promise<void> {
    await this.request("thread/inject_items", { items }, options);
  }

  /** Changes the settings of later turns. */
  async updateSettings(
    settings: ThreadParams<"thread/settings/update">,
    options: CallOptions = {},
  ): Promise<void> {
    rejectUnknownOptions("updateSettings", settings, UPDATE_SETTINGS);
    if (settings.cwd !== undefined && settings.cwd !== null) checkCwd(settings.cwd, this.#host.local);
    await this.request("thread/settings/update", settings, options);
  }

  /** Stops tracking this thread. A running turn continues on the server. Never rejects. */
  async close(): Promise<void> {
    await this.#host.release(this.id);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sends any request about this thread. Its ID is added. */
  async request<M extends ThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): Promise<ClientRequests[M]["result"]> {
    if (!STORED.has(method)) await raceAbort(this.#host.loaded(this.id), options?.signal, abortedError);
    const args = [{ ...params, threadId: this.id }, options];
    return this.#host.caller.request(method, ...(args as never));
  }

  /** Calls to a server that has this thread loaded. It may be another server by the time a waiting turn starts. */
  #loadedCaller(): StarterCaller {
    return {
      loaded: () => this.#host.loaded(this.id),
      request: async (method, ...args) => {
        await this.#host.loaded(this.id);
        return this.#host.caller.request(method, ...args);
      },
    };
  }

  #turn<Output = undefined>(
    begin: (cancelled: AbortSignal) => Promise<LiveTurn>,
    options: { parse?: (text: string) => Output; signal?: AbortSignal } = {},
  ): Turn<Output> {
    return new Turn({
      begin,
      controls: {
        steer: (turnId, input, call) => this.#steer(turnId, input, call),
        interrupt: async (turnId, call) => {
          await this.request("turn/interrupt", { turnId }, call);
        },
      },
      ...options,
    });
  }

  async #steer(
    expectedTurnId: string,
    input: Input,
    { clientUserMessageId, ...call }: SteerOptions,
  ): Promise<void> {
    const params = {
      expectedTurnId,
      input: await toUserInput(input, this.#caller.inputContext),
      ...(clientUserMessageId === undefined ? {} : { clientUserMessageId }),
    };
    await this.request("turn/steer", params, call);
  }

  /** Rejects requests that the server would accept during a turn, losing track of that turn. */
  #rejectWhenBusy(what: string): void {
    const active = this.#channel.activeTurn;
    if (!active) return;
    const message = `${what} needs an idle thread, but turn ${active.turnId} is running. Wait for it, or interrupt it.`;
    throw new CodexError("thread_busy", message);
  }

  /** Some requests start a turn without naming it: it is the next one to start. */
  async #turnStartedBy(request: () => Promise<unknown>, { signal }: TurnCallOptions): Promise<LiveTurn> {
    const begun = this.#channel.nextTurn();
    try {
      await request();
      const turn = withTimeout(begun.turn, TURN_BEGIN_LIMIT_MS, () => {
        const message = `The server accepted the request but started no turn within ${TURN_BEGIN_LIMIT_MS} ms.`;
        return new CodexError("timeout", message);
      });
      return await raceAbort(turn, signal, abortedError);
    } finally {
      begun.stop();
    }
  }
}
