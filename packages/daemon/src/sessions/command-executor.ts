import { CodexError, type Input, type Thread } from "codexkit";
import { permissionsOf } from "../api/agent-mode.ts";
import type { CommandBody, CommandKind, Message } from "../api/command.ts";
import { createProblem, type Problem } from "../api/problem.ts";
import type { SessionSettings } from "../api/settings.ts";
import type { CommandResult, FinishOptions, PendingCommand } from "../commands/command-store.ts";
import type { SessionChanges } from "../session-store/session-store.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { sandboxPolicyOf, turnOptions } from "./map-settings.ts";
import type { SessionState } from "./session-state.ts";
import { prepareTurn } from "./turn-settings.ts";

/** The outcome of an attempt to carry out a command. */
export type Step =
  /** The command has ended, and its result must be stored. `after` runs afterwards; the command does not depend on it. */
  | {
      readonly result: CommandResult;
      readonly options?: FinishOptions;
      readonly after?: () => Promise<void>;
    }
  /** The thread is busy. The command is retried when that changes. */
  | "wait"
  /** Codex has accepted the command. Its result is stored when this promise resolves. */
  | { readonly accepted: Promise<{ readonly result: CommandResult; readonly options?: FinishOptions }> };

/** The parts of a session that its commands use. */
export interface CommandContext {
  readonly state: SessionState;
  /** Loads the thread if it is not loaded. */
  load(): Promise<LoadedThread>;
  /** The thread, if it is loaded. */
  readonly loaded: LoadedThread | undefined;
  /** Records that the command is about to be sent to Codex. */
  begin(command: PendingCommand): Promise<void>;
  /** Whether the command may already have been sent to Codex, by an earlier boot or before the connection was lost. */
  mayHaveBeenSent(command: PendingCommand): boolean;
  /** Why no more turns may start: the budget is used up or the deadline has passed. */
  readonly limitReached: Problem | undefined;
  /** Resolves to the turn of the message with this ID, once the message is in the thread. Undefined if the turn ended without it. */
  untilAccepted(commandId: string, turnId: string): Promise<string | undefined>;
  /** Searches the thread's history for a message. */
  findMessage(thread: Thread, commandId: string): Promise<string | undefined>;
  /** Whether the session has parked requests. */
  hasParked(): Promise<boolean>;
  /** Ends parked requests without an answer. With `report`, the model is informed. */
  endParked(note: string, how: "report" | "interrupt"): Promise<void>;
  /** Parks the requests that wait for a person. Returns their number. */
  park(reason: "request"): Promise<number>;
  fork(options: CommandBody<"fork">, command: PendingCommand): Promise<Step>;
  deleteSession(): Promise<Step>;
  /** Reads an uploaded image as a data URL. */
  readImage(imageId: string): Promise<string>;
  writeFile(command: PendingCommand & { readonly kind: "writeFile" }): Promise<Step>;
  /** Removes a message from the queue. Returns false if it was already sent or does not exist. */
  unqueue(commandId: string): Promise<boolean>;
  /** Applies changed settings to timers and limits. */
  settingsChanged(): void;
  /** Follows the file in which a revert continues the thread. Returns the step that stores its first lines. */
  followRevert(): Promise<Pick<FinishOptions, "also">>;
}

const STEERED_PARKED =
  "The turn is parked: it waits for an answer without a process. Answer the request, or send the message with mode start.";

const done = (result: Readonly<Record<string, unknown>> = {}, options?: FinishOptions): Step => ({
  result: { ...result, ok: true },
  ...(options ? { options } : {}),
});

const refused = (problem: Problem): Step => ({ result: { ok: false, problem } });

/** Kinds that need an idle thread, and therefore wait. */
const QUEUED: ReadonlySet<CommandKind> = new Set(["compact", "review", "revert"]);

/** Whether a command waits for the running turn. All others are carried out immediately. */
export function isQueued(command: PendingCommand): boolean {
  return QUEUED.has(command.kind) || (command.kind === "message" && command.body.mode === "queue");
}

/** Carries out a command. Rejects with a `CodexError` if Codex refuses it. */
export async function executeCommand(command: PendingCommand, context: CommandContext): Promise<Step> {
  switch (command.kind) {
    case "create":
      await context.load();
      return done({ threadId: context.state.threadId });
    case "message":
      return sendMessage(command, command.body, context);
    case "interrupt":
      return interrupt(command, context);
    case "park":
      return done({ parked: await context.park("request") });
    case "unqueue":
      return unqueue(command.body, context);
    case "fork":
      return context.fork(command.body, command);
    case "revert":
      return revert(command, command.body, context);
    case "compact":
      return startTurn(command, context, (thread) => thread.compact());
    case "review":
      return startTurn(command, context, (thread) => thread.review(toReviewTarget(command.body.target)));
    case "shell":
      return shell(command, command.body, context);
    case "writeFile":
      return context.writeFile(command);
    case "settings":
      return changeSettings(command.body, context);
    case "rename":
      return changed({ name: command.body.name });
    case "archive":
      return changed({ archived: true });
    case "unarchive":
      return changed({ archived: false });
    case "delete":
      return context.deleteSession();
    case "goal":
      return setGoal(command.body, context);
  }
}

/** Changes columns, and reports them to clients. */
function changed(changes: SessionChanges): Step {
  return done({}, { changes, events: [{ type: "session.updated", changes: { ...changes } }] });
}

async function sendMessage(
  command: PendingCommand,
  { input, mode }: Message,
  context: CommandContext,
): Promise<Step> {
  if (await context.hasParked()) {
    // The turn counts as still waiting, but it can't be steered.
    if (mode === "queue") return "wait";
    if (mode === "steer") return refused(createProblem("turn_not_running", STEERED_PARKED));
    await context.endParked("A new message was sent instead of an answer.", "report");
  }
  const loaded = await context.load();
  const { thread } = loaded;
  if (context.mayHaveBeenSent(command)) {
    // An earlier boot may have sent it.
    const turnId = await context.findMessage(thread, command.id);
    if (turnId !== undefined) return done({ turnId, recovered: true });
  }
  if (mode === "steer") return steer(command, input, loaded, context);
  if (mustReactFirst(context)) return "wait";
  if (context.limitReached) return refused(context.limitReached);
  if (thread.busy) {
    if (mode === "queue") return "wait";
    return refused(
      createProblem("turn_running", "A turn is running. Send the message with mode queue or steer."),
    );
  }
  const { state } = context;
  const content = await toInput(input, context);
  const runOptions = await prepareTurn(state, loaded);
  await context.begin(command);
  const turn = thread.run(content, { clientUserMessageId: command.id, ...runOptions });
  let turnId: string;
  try {
    turnId = await turn.id;
  } catch (error) {
    if (mode === "queue" && CodexError.is(error) && error.code === "thread_busy") return "wait";
    throw error;
  }
  loaded.agentMode = state.settings.agentMode;
  return { accepted: untilInThread(command, turnId, context) };
}

/**
 * Whether the session must react to a turn that was cut off before it changes the thread. Call it after `load`, which may find such
 * a turn.
 */
function mustReactFirst({ state }: CommandContext): boolean {
  return state.interruptedTurnId !== undefined;
}

/**
 * Waits until the message is in the thread's file, which is the case when its item was reported. After the response alone, it can
 * still be lost with the process.
 */
async function untilInThread(
  command: PendingCommand,
  turnId: string,
  context: CommandContext,
): Promise<{ result: CommandResult }> {
  const found = await context.untilAccepted(command.id, turnId);
  if (found !== undefined) return { result: { ok: true, turnId: found } };
  return { result: { ok: true, turnId, ended: true } };
}

async function steer(
  command: PendingCommand,
  input: Message["input"],
  { thread }: LoadedThread,
  context: CommandContext,
): Promise<Step> {
  if (!thread.busy) {
    return refused(
      createProblem("turn_not_running", "No turn is running. Send the message with mode start."),
    );
  }
  const turnId = context.state.activeTurnId ?? "";
  if (context.mayHaveBeenSent(command)) {
    // The message may be pending inside the turn, where it is not visible. That is known once the turn has taken the message or has
    // ended.
    const accepted = context.untilAccepted(command.id, turnId).then(async (found) => {
      const inTurn = found ?? (await context.findMessage(thread, command.id));
      if (inTurn !== undefined) return { result: { ok: true, turnId: inTurn } as const };
      const detail = "The daemon was restarted while the message was sent, and the turn ended without it.";
      return { result: { ok: false, problem: createProblem("turn_not_running", detail) } as const };
    });
    return { accepted };
  }
  const content = await toInput(input, context);
  await context.begin(command);
  await thread.steer(content, { clientUserMessageId: command.id });
  return done({ turnId });
}

async function interrupt(command: PendingCommand, context: CommandContext): Promise<Step> {
  const { loaded } = context;
  if (await context.hasParked()) {
    await context.endParked("The turn was interrupted.", "interrupt");
    return done({ interrupted: true });
  }
  if (!loaded?.thread.busy) return done({ interrupted: false });
  await context.begin(command);
  await loaded.thread.interrupt();
  return done({ interrupted: true });
}

async function unqueue({ commandId }: CommandBody<"unqueue">, context: CommandContext): Promise<Step> {
  if (await context.unqueue(commandId)) return done();
  const detail = `Command ${commandId} is not a message that waits: it was sent, removed, or never existed.`;
  return refused(createProblem("unprocessable", detail));
}

async function revert(
  command: PendingCommand,
  { beforeTurnId }: CommandBody<"revert">,
  context: CommandContext,
): Promise<Step> {
  if (await context.hasParked()) return "wait";
  const { thread } = await context.load();
  if (thread.busy || mustReactFirst(context)) return "wait";
  await context.begin(command);
  try {
    await thread.revert(beforeTurnId);
  } catch (error) {
    // An earlier boot has removed the turn.
    const isGone = CodexError.is(error) && error.code === "turn_not_found";
    if (!(isGone && context.mayHaveBeenSent(command))) throw error;
  }
  // Stored with the result. Otherwise, another node that takes the session over now would bring the removed turns back.
  const { also } = await context.followRevert();
  const events = [{ type: "session.updated", changes: { revertedBefore: beforeTurnId } }] as const;
  return done({}, { events, ...(also && { also }) });
}

async function startTurn(
  command: PendingCommand,
  context: CommandContext,
  start: (thread: Thread) => { readonly id: Promise<string> },
): Promise<Step> {
  if (context.mayHaveBeenSent(command)) return refused(unknownOutcome(command.kind));
  if (await context.hasParked()) return "wait";
  const { thread } = await context.load();
  if (mustReactFirst(context)) return "wait";
  if (context.limitReached) return refused(context.limitReached);
  if (thread.busy) return "wait";
  await context.begin(command);
  const turn = start(thread);
  try {
    return done({ turnId: await turn.id });
  } catch (error) {
    if (CodexError.is(error) && error.code === "thread_busy") return "wait";
    throw error;
  }
}

async function shell(
  command: PendingCommand,
  body: CommandBody<"shell">,
  context: CommandContext,
): Promise<Step> {
  // Running the command twice could do harm.
  if (context.mayHaveBeenSent(command)) return refused(unknownOutcome(command.kind));
  // Its output would come between the open call and the output of that call.
  if (await context.hasParked()) return "wait";
  const { thread } = await context.load();
  if (mustReactFirst(context)) return "wait";
  await context.begin(command);
  const turn = thread.shell(body.command);
  return done({ turnId: await turn.id });
}

async function changeSettings(body: CommandBody<"settings">, context: CommandContext): Promise<Step> {
  const { state, loaded } = context;
  const settings = mergeSettings(state.settings, body);
  if (body.model !== undefined && loaded) await checkModel(body.model, loaded);
  if (loaded) {
    const { sandbox, approvalPolicy } = permissionsOf(settings);
    const before = permissionsOf(state.settings);
    await loaded.thread.updateSettings({
      ...turnOptions(settings),
      ...(sandbox === before.sandbox ? {} : { sandboxPolicy: sandboxPolicyOf(sandbox) }),
      ...(approvalPolicy === before.approvalPolicy ? {} : { approvalPolicy }),
    });
  }
  state.settings = settings;
  context.settingsChanged();
  return done({}, { changes: { settings }, events: [{ type: "session.updated", changes: { settings } }] });
}

/**
 * Rejects unknown models, because Codex accepts any name and then fails at the next turn. Models of other providers are not in the
 * catalog.
 */
async function checkModel(model: string, { codex, thread }: LoadedThread): Promise<void> {
  if (thread.settings.modelProvider === "openai") await codex.models.get(model);
}

async function setGoal({ goal }: CommandBody<"goal">, context: CommandContext): Promise<Step> {
  const { thread } = await context.load();
  if (goal === null) {
    await thread.goal.clear();
  } else {
    const { objective, tokenBudget } = goal;
    await thread.goal.set({ objective, tokenBudget: tokenBudget ?? null, status: "active" });
  }
  context.state.goal = goal;
  return changed({ goal });
}

function unknownOutcome(kind: CommandKind): Problem {
  const detail = `The daemon was restarted while this ${kind} was sent to Codex. It may have run: look at the session before you send it again.`;
  return createProblem("codex_failed", detail, { code: "outcome_unknown" });
}

async function toInput(input: Message["input"], context: CommandContext): Promise<Input> {
  if (typeof input === "string") return input;
  return Promise.all(
    input.map(async (part) => {
      if (part.type === "text") return { text: part.text };
      return { image: part.type === "image" ? part.url : await context.readImage(part.imageId) };
    }),
  );
}

function toReviewTarget(target: CommandBody<"review">["target"]): Parameters<Thread["review"]>[0] {
  return target.type === "commit" ? { ...target, title: target.title ?? null } : target;
}

/** Null removes a setting. */
function mergeSettings(settings: SessionSettings, changes: CommandBody<"settings">): SessionSettings {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...settings, ...Object.fromEntries(given) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null)) as SessionSettings;
}
