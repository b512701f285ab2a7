import { resolve } from "node:path";
import type { Thread as CoreThread } from "../thread/thread.ts";
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
import { standInLine } from "./thread-line.ts";
import type { ThreadSetup } from "./thread-settings.ts";

export interface TurnRequest {
  readonly plan: LaunchPlan;
  /** Null starts a thread. */
  readonly threadId: string | null;
  readonly setup: ThreadSetup;
  readonly prompt: Prompt;
  readonly options: TurnOptions;
  /** Whose turn it is: closing this object ends the servers that it used. */
  readonly user: object;
  /** Called once the turn is about to start, with a promise for its end that never rejects. */
  readonly onBegin: (ended: Promise<void>) => void;
}

/** A turn that was started, and its events. */
export interface BegunTurn {
  readonly server: SharedServer;
  readonly threadId: string;
  readonly turn: CoreTurn;
  /** Warnings about the thread that arrived before `events` was opened. */
  readonly earlyWarnings: readonly string[];
  /** The events of the thread, from before the turn. */
  readonly events: AsyncIterableIterator<CodexEvent, undefined, undefined>;
  /** Resolves once the turn has ended and other processes can load the thread. Never rejects. */
  readonly released: Promise<void>;
}

/** Finds a server, loads the thread and starts the turn. The server and the thread are reserved until the turn ends. */
export async function beginTurn(request: TurnRequest): Promise<BegunTurn> {
  const { signal } = request.options;
  const leave = request.threadId === null ? () => {} : await standInLine(request.threadId);
  try {
    throwIfAborted(signal);
    const { lease, thread } = await openThread(request);
    const { server } = lease;
    const earlyWarnings = server.notices.claim(thread.id);
    const events = thread.events();
    const turn = startTurn(thread, request);
    const released = release(turn, thread, server).then(() => {
      lease.release();
      leave();
    });
    return { server, threadId: thread.id, turn, earlyWarnings, events, released };
  } catch (error) {
    leave();
    throw error;
  }
}

/** After the turn, ends what it left running and unloads its thread. Never rejects. */
async function release(turn: CoreTurn, thread: CoreThread, server: SharedServer): Promise<void> {
  const openItems = await turn.result().then(
    (result) => result.openItems,
    (error: unknown) => {
      dropUnresponsive(server, error);
      return [];
    },
  );
  await Promise.allSettled([
    ...(openItems.length > 0 ? [thread.terminals.clean()] : []),
    ...(thread.agents.length > 0 ? [endAgents(server, thread.agents)] : []),
  ]);
  await server.threads.unload(thread);
  server.notices.release(thread.id);
}

/** A server that left a call unanswered would do so with the calls of later turns. */
function dropUnresponsive(server: SharedServer, error: unknown): void {
  if (error instanceof CodexError && error.code === "timeout") server.kill();
}

async function openThread(request: TurnRequest): Promise<{ lease: ServerLease; thread: CoreThread }> {
  for (;;) {
    const lease = await leaseServer(request.plan, request.user);
    try {
      return { lease, thread: await loadThread(lease.server, request) };
    } catch (error) {
      lease.release();
      dropUnresponsive(lease.server, error);
      // A reused server may have died or frozen since its last turn. The turn was not sent yet, so another one can be used.
      const isGone =
        error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "timeout");
      if (!(isGone && lease.reused)) throw lease.server.explain(error);
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

/** A turn that nobody waits for any more must not reach the model. */
function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

function startTurn(thread: CoreThread, { prompt, setup, options }: TurnRequest): CoreTurn {
  const images = prompt.images.map((path) => ({ type: "localImage", path: resolve(path) }) as const);
  const { modelReasoningEffort } = setup.options;
  const { outputSchema, cyberAccessProgram } = options;
  return thread.run([...images, prompt.text], {
    // Another client of this process may only be Codex itself: a goal or a queue that goes on by itself.
    whenBusy: "wait",
    turnTrigger: "exec",
    ...(modelReasoningEffort ? { effort: modelReasoningEffort } : {}),
    ...(cyberAccessProgram ? { cyberAccessProgram: PROGRAMS[cyberAccessProgram] } : {}),
    ...(outputSchema === undefined ? {} : { outputSchema: asItIs(outputSchema) }),
  });
}

/** The command line's words for what the server calls otherwise. */
const PROGRAMS = {
  standard: "standard",
  daybreak_blue: "daybreakBlue",
  daybreak_red: "daybreakRed",
} as const;

/** A schema that goes to Codex unchanged, and whose answer nobody reads here. */
function asItIs(schema: unknown): { wire: never; parse: () => undefined } {
  return { wire: JSON.parse(JSON.stringify(schema)) as never, parse: () => undefined };
}
