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
import { leaseServer, letGoElsewhere, type ServerLease } from "./server-pool.ts";
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
}

/** A turn on its way, and where to hear of it. */
export interface BegunTurn {
  readonly server: SharedServer;
  readonly threadId: string;
  readonly turn: CoreTurn;
  /** Everything that is said of the thread, from before the turn. */
  readonly events: AsyncIterableIterator<CodexEvent, undefined, undefined>;
}

/** Finds a server, loads the thread and starts the turn. The server is held, and the thread reserved, until the turn ends. */
export async function beginTurn(request: TurnRequest): Promise<BegunTurn> {
  const { signal } = request.options;
  const leave = request.threadId === null ? () => {} : await standInLine(request.threadId);
  try {
    throwIfAborted(signal);
    const { lease, thread } = await openThread(request);
    const events = thread.events();
    const turn = startTurn(thread, request);
    void whenOver(turn, thread, lease.server).then(() => {
      lease.server.threads.linger(thread.id);
      lease.release();
      leave();
    });
    return { server: lease.server, threadId: thread.id, turn, events };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Ends what the turn left running: with `codex exec` it ended with the process. Never rejects. */
async function whenOver(turn: CoreTurn, thread: CoreThread, { codex }: SharedServer): Promise<void> {
  const openItems = await turn.result().then(
    (result) => result.openItems,
    () => [],
  );
  const endings = [
    ...(openItems.length > 0 ? [thread.terminals.clean()] : []),
    ...(thread.agents.length > 0 ? [endAgents(codex, thread.agents)] : []),
  ];
  await Promise.allSettled(endings);
}

async function openThread(request: TurnRequest): Promise<{ lease: ServerLease; thread: CoreThread }> {
  for (;;) {
    const lease = await leaseServer(request.plan);
    try {
      return { lease, thread: await loadThread(lease.server, request) };
    } catch (error) {
      lease.release();
      // It died while nobody looked. Nothing was asked of it yet, so another can be.
      const died = error instanceof CodexError && error.code === "app_server_crashed";
      if (!(died && lease.reused)) throw lease.server.explain(error);
    }
  }
}

async function loadThread(server: SharedServer, request: TurnRequest): Promise<CoreThread> {
  const { threadId, setup, options } = request;
  if (threadId !== null) await letGoElsewhere(threadId, server);
  const thread = await (threadId === null
    ? server.threads.start(setup)
    : server.threads.resume(threadId, setup));
  if (options.signal?.aborted) server.threads.linger(thread.id);
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
