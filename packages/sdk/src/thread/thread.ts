import type { ClientRequests, JsonValue, v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { abortedError, CodexError } from "../errors.ts";
import type { CodexEvent } from "../events/event.ts";
import { checkSignal, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import { paginate } from "../topics/paginate.ts";
import { type Input, type InputContext, toUserInput } from "../turn/input.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { raceAbort, withTimeout } from "@codexkit/rpc/async";
import { toOutputSchema } from "../schema/output-schema.ts";
import { STEER, type SteerOptions, Turn, TURN_CALL, type TurnCallOptions } from "../turn/turn.ts";
import type { Agent } from "../routing/agent-tree.ts";
import { ThreadGoal } from "./goal.ts";
import { ThreadHistory } from "./history.ts";
import { ThreadQueue } from "./queue.ts";
import { checkWhenBusy, RUN, type RunOptions } from "./run-options.ts";
import { ThreadTerminals } from "./terminals.ts";
import type {
  PagedThreadMethod,
  PageEntry,
  ThreadCaller,
  ThreadMethod,
  ThreadParams,
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

/** What a thread needs of the `Codex` that it belongs to. */
export interface ThreadHost {
  /** Whether the server shares this machine's files. */
  readonly local: boolean;
  readonly caller: Caller;
  /** Resolves once the server that runs now has this thread loaded; a server that was restarted resumes it first. */
  loaded(threadId: string): Promise<void>;
  fork(threadId: string, options: ForkThreadOptions, call: CallOptions): Promise<Thread>;
  agentsBelow(threadId: string): Agent[];
  eventsWithAgents(threadId: string): AsyncIterableIterator<CodexEvent, undefined, undefined>;
  release(threadId: string): Promise<void>;
}

/** These read or change what is stored: no need to load the thread first. */
const STORED: ReadonlySet<ThreadMethod> = new Set<ThreadMethod>([
  "thread/read",
  "thread/turns/list",
  "thread/items/list",
  "thread/searchOccurrences",
  "thread/name/set",
  "thread/archive",
  "thread/unarchive",
  "thread/delete",
  "thread/metadata/update",
  "thread/unsubscribe",
]);

/** How long a turn may take to begin after the server accepted the request that starts it. */
const TURN_BEGIN_LIMIT_MS = 30_000;

/** A conversation with Codex. */
export class Thread implements ThreadCaller, AsyncDisposable {
  readonly id: string;
  /** What happened before. */
  readonly history: ThreadHistory;
  /** What waits with the server to be run. */
  readonly queue: ThreadQueue;
  readonly goal: ThreadGoal;
  /** Commands left running in the background. */
  readonly terminals: ThreadTerminals;
  /** How the thread was set up when it was started or resumed; later changes come as events. */
  readonly settings: ThreadSettings;
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #starter: TurnStarter;

  constructor(host: ThreadHost, channel: ThreadChannel, settings: ThreadSettings) {
    this.id = channel.threadId;
    this.settings = settings;
    this.#host = host;
    this.#channel = channel;
    this.#starter = new TurnStarter(this.#loadedCaller(), channel);
    this.history = new ThreadHistory(this);
    this.queue = new ThreadQueue(this);
    this.goal = new ThreadGoal(this);
    this.terminals = new ThreadTerminals(this);
  }

  get cwd(): string {
    return this.settings.cwd;
  }

  get inputContext(): InputContext {
    return { cwd: this.cwd, local: this.#host.local };
  }

  /** Whether a turn runs on this thread now, whoever started it. */
  get busy(): boolean {
    return this.#channel.activeTurn !== undefined;
  }

  /** The agents that this thread started, each with its own below it. */
  get agents(): readonly Agent[] {
    return this.#host.agentsBelow(this.id);
  }

  /** Starts a turn. What happens when one runs already is `whenBusy`; without it the call is refused. */
  run<Output = undefined>(input: Input, options: RunOptions<Output> = {}): Turn<Output> {
    rejectUnknownOptions("run", options, RUN);
    const { outputSchema, signal, whenBusy = "reject", ...settings } = options;
    checkSignal("run", signal);
    checkWhenBusy(whenBusy);
    const schema = outputSchema === undefined ? undefined : toOutputSchema(outputSchema);
    if (settings.cwd !== undefined && settings.cwd !== null) checkCwd(settings.cwd, this.#host.local);
    const begin = async (cancelled: AbortSignal): Promise<LiveTurn> => {
      const params = {
        input: await toUserInput(input, this.inputContext),
        ...settings,
        ...(schema ? { outputSchema: schema.wire } : {}),
      };
      return this.#starter.start({ params, whenBusy, signal, cancelled });
    };
    return this.#turn(begin, {
      ...(schema ? { parse: (text: string) => schema.parse(text) } : {}),
      ...(signal ? { signal } : {}),
    });
  }

  /** A turn that runs already, started by another client; rejects with `turn_not_active` when that is not so. */
  attach(turnId: string, options: TurnCallOptions = {}): Turn {
    rejectUnknownOptions("attach", options, TURN_CALL);
    return this.#turn(async () => {
      const params = { limit: 1, sortDirection: "desc", itemsView: "notLoaded" } as const;
      const { data } = await this.request("thread/turns/list", params, options);
      if (data.some(({ id, status }) => id === turnId && status === "inProgress")) {
        return this.#channel.turn(turnId);
      }
      throw new CodexError("turn_not_active", `Turn ${turnId} does not run on this thread.`);
    }, options);
  }

  /** Starts a turn and gives its events, as `@openai/codex-sdk` does. `run` gives both events and result. */
  async runStreamed(input: Input, options: RunOptions = {}): Promise<{ events: AsyncIterable<CodexEvent> }> {
    const turn = this.run(input, options);
    await turn.id;
    return { events: turn };
  }

  /** Adds to the turn that runs; rejects with `turn_not_active` when none does. */
  async steer(input: Input, options: SteerOptions = {}): Promise<void> {
    rejectUnknownOptions("steer", options, STEER);
    const active = this.#channel.activeTurn;
    if (!active)
      throw new CodexError("turn_not_active", "No turn runs on this thread that could be steered.");
    await this.#steer(active.turnId, input, options);
  }

  /** Stops the turn that runs, whoever started it; does nothing when none does. */
  async interrupt(options: TurnCallOptions = {}): Promise<void> {
    rejectUnknownOptions("interrupt", options, TURN_CALL);
    const active = this.#channel.activeTurn;
    if (active) await this.#turn(() => Promise.resolve(active)).interrupt(options);
  }

  /**
   * All events of this thread from now on, turns of other clients and late items included. With `agents`, those of the
   * agents below it too; each event names its thread in `threadId`.
   */
  events(options: ThreadEventsOptions = {}): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    rejectUnknownOptions("events", options, THREAD_EVENTS);
    return options.agents === true ? this.#host.eventsWithAgents(this.id) : this.#channel.events.read();
  }

  /** Every turn that begins from now on, whoever started it: this client, the queue, a goal, another client. */
  onTurn(listener: (turn: Turn) => void): Disposable {
    return this.#channel.onTurn((live) => listener(this.#turn(() => Promise.resolve(live))));
  }

  /** Looks at changes and reports what is wrong with them. */
  review(target: v2.ReviewTarget, options: TurnCallOptions = {}): Turn {
    rejectUnknownOptions("review", options, TURN_CALL);
    return this.#turn(async () => {
      this.#refuseWhenBusy("A review");
      const start = this.#channel.expectStart();
      try {
        const { turn } = await this.request("review/start", { target }, options);
        return start.claim(turn.id);
      } finally {
        start.done();
      }
    }, options);
  }

  /** Makes the history shorter; the progress is a turn. */
  compact(options: TurnCallOptions = {}): Turn {
    rejectUnknownOptions("compact", options, TURN_CALL);
    return this.#turn(async () => {
      this.#refuseWhenBusy("Compacting");
      return this.#turnBegunBy(() => this.request("thread/compact/start", {}, options), options);
    }, options);
  }

  /** Runs a command of the person's, **outside the sandbox**, in the turn that runs or in one of its own. */
  shell(command: string, options: ShellOptions = {}): Turn {
    rejectUnknownOptions("shell", options, SHELL);
    const { timeoutMs, ...call } = options;
    const params = timeoutMs === undefined ? { command } : { command, timeoutMs };
    return this.#turn(async () => {
      const active = this.#channel.activeTurn;
      if (!active) return this.#turnBegunBy(() => this.request("thread/shellCommand", params, call), call);
      await this.request("thread/shellCommand", params, call);
      return active;
    }, call);
  }

  /** A copy of this thread with an id of its own: whole, through a turn, or up to one. */
  fork(options: ForkThreadOptions = {}, call: CallOptions = {}): Promise<Thread> {
    return this.#host.fork(this.id, options, call);
  }

  /** The thread as the server has it now. */
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

  /** Deletes the thread and the agents' threads below it, for good. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.request("thread/delete", {}, options);
    await this.#host.release(this.id);
  }

  /** Cuts the history before a turn; files stay as they are. */
  async revert(beforeTurnId: string, options: CallOptions = {}): Promise<void> {
    this.#refuseWhenBusy("Reverting");
    await this.request("thread/revert", { beforeTurnId }, options);
  }

  /** Appends raw Responses items to the history, without a turn. */
  async inject(items: JsonValue[], options: CallOptions = {}): Promise<void> {
    await this.request("thread/inject_items", { items }, options);
  }

  /** Changes the settings of the turns to come. */
  async updateSettings(
    settings: ThreadParams<"thread/settings/update">,
    options: CallOptions = {},
  ): Promise<void> {
    rejectUnknownOptions("updateSettings", settings, UPDATE_SETTINGS);
    if (settings.cwd !== undefined && settings.cwd !== null) checkCwd(settings.cwd, this.#host.local);
    await this.request("thread/settings/update", settings, options);
  }

  /** Stops listening to this thread. A running turn continues on the server. Never rejects. */
  async close(): Promise<void> {
    await this.#host.release(this.id);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Any request about this thread; its id is added. */
  async request<M extends ThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): Promise<ClientRequests[M]["result"]> {
    if (!STORED.has(method)) await raceAbort(this.#host.loaded(this.id), options?.signal, abortedError);
    const args = [{ ...params, threadId: this.id }, options];
    return this.#host.caller.request(method, ...(args as never));
  }

  /** Every entry of a request about this thread that answers in pages. */
  pages<M extends PagedThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): AsyncGenerator<PageEntry<M>, void, undefined> {
    type Page = { data: PageEntry<M>[]; nextCursor: string | null };
    return paginate(async (cursor) => {
      const page = await this.request(method, { ...params, cursor }, options);
      return page as unknown as Page;
    });
  }

  /** Calls for a server that has this thread loaded: it may be another by the time that a turn's place is free. */
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
      input: await toUserInput(input, this.inputContext),
      ...(clientUserMessageId === undefined ? {} : { clientUserMessageId }),
    };
    await this.request("turn/steer", params, call);
  }

  /** The server would take these in the middle of a turn, and lose track of that turn. */
  #refuseWhenBusy(what: string): void {
    const active = this.#channel.activeTurn;
    if (!active) return;
    const message = `${what} needs an idle thread; turn ${active.turnId} runs. Wait for it, or interrupt it.`;
    throw new CodexError("thread_busy", message);
  }

  /** Some requests start a turn and do not say which: it is the next that begins. */
  async #turnBegunBy(request: () => Promise<unknown>, { signal }: TurnCallOptions): Promise<LiveTurn> {
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
