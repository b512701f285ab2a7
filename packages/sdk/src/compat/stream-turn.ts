import { raceAbort } from "@codexkit/rpc/async";
import { type CodexEvent, isTurnEnd, type TurnEndEvent } from "../events/event.ts";
import { type BegunTurn, beginTurn, type TurnRequest } from "./begin-turn.ts";
import { checkRepository } from "./check-folder.ts";
import { abortError, exitError, PROMPT_LINE } from "./errors.ts";
import { EventMapper } from "./event-mapper.ts";
import type { ThreadEvent } from "./events.ts";
import { COMPAT_LIMITS } from "./limits.ts";

/** Runs a turn and yields its events in the format of `codex exec`. Throws where the original does. */
export async function* streamTurn(request: TurnRequest): AsyncGenerator<ThreadEvent, void, undefined> {
  const { prompt, setup, options } = request;
  const { signal } = options;
  if (signal?.aborted) throw abortError(signal);
  if (prompt.text.trim() === "") {
    throw exitError("code 1", `${PROMPT_LINE}No prompt provided via stdin.\n`);
  }
  checkRepository(setup.cwd, setup.options);
  const beginning = beginTurn(request);
  const ended = beginning.then(
    ({ released }) => released,
    () => {},
  );
  request.onBegin(ended);
  // A turn that is aborted before it has begun is stopped once it begins.
  const begun = await raceAbort(beginning, signal, (aborted) => {
    void beginning.then(stop, () => {});
    return abortError(aborted);
  });
  const onAbort = (): void => void stop(begun);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    yield { type: "thread.started", thread_id: begun.threadId };
    const end = yield* readTurn(begun, signal);
    // `codex exec` exits with 1 after a turn that failed or was interrupted.
    if (end.type !== "turn.completed") throw exitError("code 1", PROMPT_LINE, getFailure(end));
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await stop(begun);
  }
}

async function* readTurn(
  begun: BegunTurn,
  signal: AbortSignal | undefined,
): AsyncGenerator<ThreadEvent, TurnEndEvent, undefined> {
  const mapper = new EventMapper();
  const turnId = await waitForTurnId(begun, signal);
  let hasStarted = false;
  /** Warnings about the thread from before the turn. They follow those about the configuration, as on the server. */
  const earlyWarnings: CodexEvent[] = [];
  for await (const event of begun.events) {
    if (signal?.aborted && !isTurnEnd(event)) continue;
    if (!belongsToTurn(event, turnId)) continue;
    if (signal?.aborted) break;
    if (isCrash(event)) throw begun.server.explain(event.error);
    if (!hasStarted && event.type === "warning" && event.turnId === undefined) {
      earlyWarnings.push(event);
      continue;
    }
    if (!hasStarted) {
      yield* begun.server.warnings.messages.map((message) => mapper.toErrorItem(message));
      yield* earlyWarnings.flatMap((warning) => mapper.map(warning));
    }
    hasStarted = true;
    yield* mapper.map(event);
    if (isTurnEnd(event)) return event;
  }
  throw signal?.aborted ? abortError(signal) : exitError("code 1", PROMPT_LINE);
}

async function waitForTurnId({ turn, server }: BegunTurn, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await turn.id;
  } catch (error) {
    // A turn that was aborted before it started has no id.
    throw signal?.aborted ? abortError(signal) : server.explain(error);
  }
}

/** Whether an event belongs to a turn. A warning without a turn belongs to the running one. */
function belongsToTurn(event: CodexEvent, turnId: string): boolean {
  const eventTurnId = "turnId" in event ? event.turnId : undefined;
  return eventTurnId === turnId || (eventTurnId === undefined && event.type === "warning");
}

/** Whether the turn ended because the server was lost. */
function isCrash(event: CodexEvent): event is TurnEndEvent & { type: "turn.failed" } {
  return event.type === "turn.failed" && event.error.code !== "turn_failed";
}

function getFailure(end: TurnEndEvent): Error | undefined {
  return end.type === "turn.failed" ? end.error : undefined;
}

/**
 * Stops the turn if it is running, and waits until other processes can load its thread. A server that does not stop it within
 * the limit is killed, as the original kills `codex exec`.
 */
async function stop({ turn, events, released, server }: BegunTurn): Promise<void> {
  const timer = setTimeout(() => server.kill(), COMPAT_LIMITS.stopTimeoutMs);
  // Rejections mean that the turn or its server has ended.
  await turn.interrupt().catch(() => {});
  await turn.result().catch(() => {});
  clearTimeout(timer);
  await released;
  await events.return?.();
}
