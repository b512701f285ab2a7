import { raceAbort } from "@codexkit/rpc/async";
import type { CodexEvent, TurnEndEvent } from "../events/event.ts";
import { type BegunTurn, beginTurn, type TurnRequest } from "./begin-turn.ts";
import { checkRepository } from "./check-folder.ts";
import { abortError, exitError, PROMPT_LINE } from "./errors.ts";
import { EventMapper } from "./event-mapper.ts";
import type { ThreadEvent } from "./events.ts";

/** How long the server may take to stop a turn. It takes milliseconds. */
const STOP_LIMIT_MS = 10_000;

/** Runs a turn and yields its events as `codex exec` would print them. Throws where the old package would. */
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
  // Aborted before it began: it is stopped when it does.
  const begun = await raceAbort(beginning, signal, (fired) => {
    void beginning.then(stop, () => {});
    return abortError(fired);
  });
  const onAbort = (): void => void stop(begun);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    yield { type: "thread.started", thread_id: begun.threadId };
    const end = yield* readTurn(begun, signal);
    // `codex exec` exits with 1 after a turn that failed or was interrupted.
    if (end.type !== "turn.completed") throw exitError("code 1", PROMPT_LINE, failureOf(end));
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
  const turnId = await turnIdOf(begun, signal);
  let started = false;
  /** Warnings about the thread from before the turn. The configuration's come first, as the server sends them first. */
  const held: CodexEvent[] = [];
  for await (const event of begun.events) {
    if (signal?.aborted && !isEnd(event)) continue;
    if (!isOf(event, turnId)) continue;
    if (signal?.aborted) break;
    if (isCrash(event)) throw begun.server.explain(event.error);
    if (!started && event.type === "warning" && event.turnId === undefined) {
      held.push(event);
      continue;
    }
    if (!started) {
      const notices = [...begun.server.notices.general, ...begun.earlyWarnings];
      yield* notices.map((message) => mapper.notice(message));
      yield* held.flatMap((warning) => mapper.map(warning));
    }
    started = true;
    yield* mapper.map(event);
    if (isEnd(event)) return event;
  }
  throw signal?.aborted ? abortError(signal) : exitError("code 1", PROMPT_LINE);
}

async function turnIdOf({ turn, server }: BegunTurn, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await turn.id;
  } catch (error) {
    // A turn that was aborted before it began has no id.
    throw signal?.aborted ? abortError(signal) : server.explain(error);
  }
}

/** What is said of the thread and of no turn belongs to the turn that runs. */
function isOf(event: CodexEvent, turnId: string): boolean {
  const of = "turnId" in event ? event.turnId : undefined;
  return of === turnId || (of === undefined && event.type === "warning");
}

function isEnd(event: CodexEvent): event is TurnEndEvent {
  return event.type === "turn.completed" || event.type === "turn.failed" || event.type === "turn.interrupted";
}

/** A turn that the server did not end, because it is gone. */
function isCrash(event: CodexEvent): event is TurnEndEvent & { type: "turn.failed" } {
  return event.type === "turn.failed" && event.error.code !== "turn_failed";
}

function failureOf(end: TurnEndEvent): Error | undefined {
  return end.type === "turn.failed" ? end.error : undefined;
}

/**
 * Stops the turn if it runs, and waits until its thread is free for other processes. A server that does not stop it within
 * the limit is killed, as `codex exec` was.
 */
async function stop({ turn, events, released, server }: BegunTurn): Promise<void> {
  const timer = setTimeout(() => server.kill(), STOP_LIMIT_MS);
  // It ended, or its server did.
  await turn.interrupt().catch(() => {});
  await turn.result().catch(() => {});
  clearTimeout(timer);
  await released;
  await events.return?.();
}
