import type { SharedV4Warning } from "@ai-sdk/provider";
import type { InputPart } from "codexkit";
import type { Call } from "../call/read-call.ts";
import { TurnParts } from "../stream/turn-parts.ts";
import { digestOf } from "../transcript/digest.ts";
import type { Entry } from "../transcript/entry.ts";
import type { Session } from "./session.ts";
import type { Opened, Sessions } from "./sessions.ts";
import { lastingSettings, partsOptions, runOptions, turnSettings } from "./thread-options.ts";
import { TurnRun } from "./turn-run.ts";

/** Starts a turn on a thread, after earlier turns have ended. */
export async function startTurn(
  sessions: Sessions,
  opened: Pick<Opened, "session" | "entered">,
  call: Call,
): Promise<{
  readonly session: Session;
  readonly run: TurnRun;
  readonly warnings: readonly SharedV4Warning[];
}> {
  const { session } = opened;
  const leave = await (opened.entered ?? session.enter(call.signal));
  const openBroker = session.broker.openForTurn();
  const end = (): void => {
    openBroker[Symbol.dispose]();
    leave();
    sessions.trim(session);
  };
  try {
    const started = await start(sessions, session, call);
    void started.run.ended.then(end);
    return { session, ...started };
  } catch (error) {
    end();
    throw error;
  }
}

async function start(
  sessions: Sessions,
  session: Session,
  call: Call,
): Promise<{ readonly run: TurnRun; readonly warnings: readonly SharedV4Warning[] }> {
  const { thread, broker } = session;
  const { format, signal } = call;
  session.forgetSuspended();
  broker.serve(call);
  if (call.options.compact === true && !session.isEmpty) await thread.compact(call.callOptions);
  const { instructions } = call;
  const warnings: SharedV4Warning[] = [];
  if (instructions !== undefined && instructions !== session.instructions) {
    await addInstructions(session, instructions, call);
    warnings.push(INSTRUCTIONS_ADDED);
  }

  const input = inputEntries(call);
  const inputDigest = digestOf(input);
  const isRetry = isNamed(call) && session.failedInput === inputDigest;
  // The signal applies only to the start, because a turn that waits for its client outlives the call that started it.
  using starting = whileStarting(signal);
  const options = await runOptions(call, session.settings, () => sessions.facts(thread.cwd));
  const turn = thread.run(isRetry ? [] : inputOf(call), { ...options, signal: starting.signal });
  const turnId = await turn.id;
  if (isNamed(call)) session.transcript.appendNamed(call.prompt.digests.entries, isRetry ? [] : input);
  else session.transcript.continueWith(call.prompt.digests.entries);
  session.isEmpty = false;
  session.failedInput = undefined;
  session.settings = { ...session.settings, ...defined(lastingSettings(call)) };
  const run = new TurnRun({
    turn,
    turnId,
    broker,
    parts: new TurnParts({
      threadId: thread.id,
      turnId,
      ...partsOptions(call),
      readAnswer: format.readAnswer,
    }),
    modelId: session.settings.model ?? thread.settings.model,
    begunWith: turnSettings(call),
    onFailed: () => {
      session.failedInput = inputDigest;
    },
  });
  session.run = run;
  return { run, warnings };
}

const INSTRUCTIONS_ADDED: SharedV4Warning = {
  type: "compatibility",
  feature: "new instructions on a thread named by threadId",
  details:
    "A thread's instructions can't change, so the new ones were added to its history. Keep system messages stable, or " +
    "omit threadId and let the messages identify the thread, so that it can be replaced.",
};

/** Whether the call names its thread and is therefore responsible for the thread's content. */
function isNamed({ options }: Call): boolean {
  return options.threadId !== undefined;
}

/** Returns the entries that the prompt adds to its thread. */
function inputEntries({ prompt }: Call): readonly Entry[] {
  const { entries, prefixLength } = prompt.digests;
  return entries.slice(prefixLength);
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

/** Adds new instructions to the thread's history, because a loaded thread's instructions can't be replaced. */
async function addInstructions(session: Session, instructions: string, { callOptions }: Call): Promise<void> {
  const text = `These instructions replace the developer's earlier instructions:\n${instructions}`;
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
