import type { InputPart } from "codexkit";
import type { Call } from "../model/read-call.ts";
import { TurnParts } from "../stream/turn-parts.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { lastingSettings, runOptions } from "./thread-options.ts";
import { TurnRun } from "./turn-run.ts";

/** Starts a turn on a thread, once those before it are over. */
export async function startTurn(
  sessions: Sessions,
  session: Session,
  call: Call,
): Promise<{ readonly session: Session; readonly run: TurnRun }> {
  const leave = await session.enter(call.signal);
  const attendance = session.desk.attend();
  const end = (): void => {
    attendance[Symbol.dispose]();
    leave();
    sessions.trim();
  };
  try {
    const run = await start(session, call);
    void run.ended.then(end);
    return { session, run };
  } catch (error) {
    end();
    throw error;
  }
}

async function start(session: Session, call: Call): Promise<TurnRun> {
  const { thread, desk } = session;
  const { format, signal } = call;
  session.forgetParked();
  desk.offer(call.tools);
  if (call.options.compact === true && !session.isEmpty) await thread.compact(call.callOptions);
  const { instructions } = call;
  if (instructions !== undefined && instructions !== session.instructions) {
    await replaceInstructions(session, instructions, call);
  }

  // The signal is for the start alone: a turn that waits for its client outlives the call that started it.
  using starting = whileStarting(signal);
  const turn = thread.run(inputOf(call), { ...runOptions(call, session.settings), signal: starting.signal });
  const turnId = await turn.id;
  session.newestTurn = turnId;
  session.isEmpty = false;
  session.settings = { ...session.settings, ...defined(lastingSettings(call)) };
  const parts = new TurnParts({ threadId: thread.id, turnId, readAnswer: format.readAnswer });
  const run = new TurnRun(turn, turnId, desk, parts);
  session.run = run;
  return run;
}

function inputOf({ prompt, format, options }: Call): InputPart[] {
  const { skills = [], mentions = [] } = options;
  return [
    ...prompt.input,
    ...(format.request === undefined ? [] : [{ text: format.request }]),
    ...skills.map((skill) => ({ skill })),
    ...mentions.map((mention) => ({ mention })),
  ];
}

/** A thread that runs takes no other instructions: it is told of them in its history. */
async function replaceInstructions(
  session: Session,
  instructions: string,
  { callOptions }: Call,
): Promise<void> {
  const text = `These instructions take the place of the developer's earlier ones:\n${instructions}`;
  const message = { type: "message", role: "developer", content: [{ type: "input_text", text }] };
  await session.thread.inject([message], callOptions);
  session.instructions = instructions;
}

function whileStarting(signal: AbortSignal | undefined): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => signal?.removeEventListener("abort", onAbort),
  };
}

function defined<Value extends object>(value: Value): Partial<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<Value>;
}
