import { KeyedSerialQueue } from "@codexkit/rpc/async";
import { resolve } from "node:path";
import type { Thread as CoreThread } from "../thread/thread.ts";
import type { RunOptions } from "../thread/run-options.ts";
import type { Input } from "../turn/input.ts";
import type { Turn as CoreTurn } from "../turn/turn.ts";
import { CodexError } from "../errors.ts";
import type { CodexEvent } from "../events/event.ts";
import { endAgents } from "./end-agents.ts";
import { abortError } from "./errors.ts";
import type { Prompt } from "./input.ts";
import type { LaunchPlan } from "./launch-plan.ts";
import type { TurnOptions } from "./options.ts";
import { leaseServer, type ServerLease } from "./server-pool.ts";
import type { SharedServer } from "./shared-server.ts";

import type { ThreadSetup } from "./thread-settings.ts";

/** Serialises the turns of a thread in this program. The original runs them in parallel, and all but one fail. */
const threadQueue = new KeyedSerialQueue<string>();

export interface TurnRequest {
  readonly plan: LaunchPlan;
  /** Null starts a new thread. */
  readonly threadId: string | null;
  readonly setup: ThreadSetup;
  readonly prompt: Prompt;
  readonly options: TurnOptions;
  /** The owner of the turn. Closing it ends the servers that it used. */
  readonly user: object;
  /** Called before the turn starts, with a promise for its end that never rejects. */
  readonly onBegin: (ended: Promise<void>) => void;
}

/** A started turn and its events. */
export interface BegunTurn {
  readonly server: SharedServer;
  readonly threadId: string;
  readonly turn: CoreTurn;
  /** The events of the thread since it was loaded. */
  readonly events: AsyncIterableIterator<CodexEvent, undefined, undefined>;
  /** Resolves once the turn has ended and other processes can load the thread. Never rejects. */
  readonly released: Promise<void>;
}

/** Finds a server, loads the thread and starts the turn. The server and the thread are reserved until the turn ends. */
export async function beginTurn(request: TurnRequest): Promise<BegunTurn> {
  const { signal } = request.options;
  // Created before anything is reserved, because a schema that can't be serialised throws.
  const { input, runOptions } = toRunArguments(request);
  const lock = request.threadId === null ? undefined : await threadQueue.acquire(request.threadId);
  try {
    throwIfAborted(signal);
    const { lease, thread } = await openThread(request);
    const { server } = lease;
    const events = thread.events();
    const turn = thread.run(input, runOptions);
    const released = releaseThread(turn, thread, server).then(() => {
      lease.release();
      lock?.[Symbol.dispose]();
    });
    return { server, threadId: thread.id, turn, events, released };
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw error;
  }
}

/** After the turn, ends the commands and agents that it left running and unloads its thread. Never rejects. */
async function releaseThread(turn: CoreTurn, thread: CoreThread, server: SharedServer): Promise<void> {
  const openItems = await turn.result().then(
    (result) => result.openItems,
    (error: unknown) => {
      killIfUnresponsive(server, error);
      return [];
    },
  );
  await Promise.allSettled([
    ...(openItems.length > 0 ? [thread.terminals.clean()] : []),
    ...(thread.agents.length > 0 ? [endAgents(server, thread.agents)] : []),
  ]);
  await server.threads.unload(thread);
}

/** Kills a server that did not answer a call in time: it would not answer those of later turns either. */
function killIfUnresponsive(server: SharedServer, error: unknown): void {
  if (error instanceof CodexError && error.code === "timeout") server.kill();
}

async function openThread(request: TurnRequest): Promise<{ lease: ServerLease; thread: CoreThread }> {
  for (;;) {
    const lease = await leaseServer(request.plan, request.user);
    try {
      return { lease, thread: await loadThread(lease.server, request) };
    } catch (error) {
      lease.release();
      killIfUnresponsive(lease.server, error);
      // A reused server may have crashed or frozen since its last turn. No turn was sent yet, so another server can be used.
      const isLost =
        error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "timeout");
      if (!(isLost && lease.isReused)) throw lease.server.explain(error);
    }
  }
}

async function loadThread({ threads }: SharedServer, request: TurnRequest): Promise<CoreThread> {
  const { threadId, setup, options } = request;
  const thread = await (threadId === null ? threads.start(setup) : threads.resume(threadId, setup));
  if (options.signal?.aborted) await threads.unload(thread);
  throwIfAborted(options.signal);
  return thread;
}

/** An aborted turn must not reach the model. */
function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

function toRunArguments({ prompt, setup, options }: TurnRequest): {
  readonly input: Input;
  readonly runOptions: RunOptions;
} {
  const images = prompt.images.map((path) => ({ type: "localImage", path: resolve(path) }) as const);
  const { modelReasoningEffort } = setup.options;
  const { outputSchema, cyberAccessProgram } = options;
  const runOptions: RunOptions = {
    // Only Codex itself can run another turn here, for a goal or its queue.
    whenBusy: "wait",
    turnTrigger: "exec",
    ...(modelReasoningEffort ? { effort: modelReasoningEffort } : {}),
    ...(cyberAccessProgram ? { cyberAccessProgram: PROGRAMS[cyberAccessProgram] } : {}),
    ...(outputSchema === undefined ? {} : { outputSchema: toOutputSchema(outputSchema) }),
  };
  return { input: [...images, prompt.text], runOptions };
}

/** Maps values of the command line to the server's names for them. */
const PROGRAMS = {
  standard: "standard",
  daybreak_blue: "daybreakBlue",
  daybreak_red: "daybreakRed",
} as const;

/** Sends the schema to Codex unchanged. The reply is not parsed. */
function toOutputSchema(schema: unknown): { wire: never; parse: () => undefined } {
  return { wire: JSON.parse(JSON.stringify(schema)) as never, parse: () => undefined };
}
