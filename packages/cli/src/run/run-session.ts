import type { CommandBody, DaemonClient, Session, SessionEvent } from "@codexkit/daemon/client";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { RunCommandOptions, ThreadCommandOptions } from "./thread-options.ts";
import type { CliContext } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import { CliError, EXIT, SilentExit, usageError } from "../errors/cli-error.ts";
import { lifetime } from "../process/lifetime.ts";
import { findSession } from "../session/find-session.ts";
import { resolveFolder } from "./open-thread.ts";
import { imageType, readPrompt, separatePrompt, toInput } from "./read-prompt.ts";
import { createPrinter, type RunPrinter } from "./run-printer.ts";
import { checkOutput, deniedError, writeMessage } from "./run-task.ts";
import { ParkedTurn, type TurnEndEvent } from "./parked-turn.ts";
import { SessionApprovals } from "./session-approvals.ts";
import { TurnLimits } from "./turn-limits.ts";

/** Options that apply only to a thread of this program. A daemon has its own policy and model. */
const THREAD_ONLY = ["allow", "policy", "demo", "outputSchema"] as const;

/** How long the daemon may take to copy or change a session. */
const COMMAND_WAIT_MS = 20_000;

/** Implements `codexkit run --daemon`: one turn of a session, which continues if this program is killed. */
export async function runSession(
  context: CliContext,
  words: string,
  given: RunCommandOptions,
): Promise<void> {
  const { signal } = context;
  const { prompt: argument, options } = separatePrompt(words, given);
  rejectThreadOptions(options);
  const cwd = resolveFolder(options);
  await checkOutput(options.output);
  const prompt = await readPrompt(argument, context);
  const input = await toMessage(prompt, options.image);
  const { client } = await connectDaemon(daemonOptions(options), context);

  await using stack = new AsyncDisposableStack();
  const limits = stack.use(new TurnLimits(options));
  const printer = stack.use(createPrinter(context, { cwd, budget: options.budget }));
  const session = await openSession(client, { options, cwd, signal });
  const approvals = new SessionApprovals({
    client,
    context,
    cwd,
    printer,
    prompts: await printer.openPrompts(),
  });
  const command = await client.send(session.id, input, { signal });
  stack.use(interruptByKey(client, session.id, printer));
  const end = await followMessage({
    client,
    session,
    commandId: command.id,
    printer,
    approvals,
    limits,
    signal,
  });
  if (end.type !== "turn.completed" && limits.exceeded) throw limits.exceeded;
  if (end.type === "turn.failed") throw new CliError(EXIT.failed, end.problem.detail);
  printer.reportEnd(end.result, `session ${session.id}`);
  if (options.output !== undefined) await writeMessage(options.output, end.result.finalResponse);
  limits.checkEnd(end.turnId, end.result.usage);
  if (approvals.denials.length > 0) throw deniedError(approvals.denials, context);
  if (end.type === "turn.interrupted") throw new SilentExit(EXIT.interrupted);
}

export function rejectThreadOptions(options: RunCommandOptions): void {
  const refused = THREAD_ONLY.find((name) => options[name] !== undefined);
  if (refused === undefined) return;
  const flag = refused.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(`--${flag} can't be used with --daemon.`, "The daemon has its own policy and model.");
}

/** Converts the options to those of commands that only talk to a daemon. */
export function daemonOptions({ daemon, tokenFile }: ThreadCommandOptions): {
  url?: string;
  tokenFile?: string;
} {
  return {
    ...(typeof daemon === "string" ? { url: daemon } : {}),
    ...(tokenFile === undefined ? {} : { tokenFile }),
  };
}

/** Creates the session that the options describe, or finds or copies an earlier one. */
export async function openSession(
  client: DaemonClient,
  { options, cwd, signal }: { options: ThreadCommandOptions; cwd: string; signal: AbortSignal },
): Promise<Session> {
  const { model, effort, sandbox, mode, resume, fork = false } = options;
  if (resume === undefined && !fork) {
    const { session } = await client.createSession(
      {
        cwd,
        ...(model === undefined ? {} : { model }),
        ...(effort === undefined ? {} : { effort }),
        ...(sandbox === undefined ? {} : { permissionMode: sandbox }),
        ...(mode === undefined ? {} : { agentMode: mode }),
        ...limitSettings(options),
      },
      { signal },
    );
    return session;
  }
  const session =
    typeof resume === "string"
      ? await findSession(client, resume, signal)
      : await findLast(client, cwd, signal);
  if (!fork) {
    await setLimits(client, session, { options, signal });
    return session;
  }
  const { result, problem } = await client.request("POST /sessions/{sessionId}/fork", {
    params: { sessionId: session.id },
    body: {},
    query: { wait: COMMAND_WAIT_MS },
    signal,
  });
  if (typeof result?.["sessionId"] !== "string") {
    throw new CliError(
      EXIT.failed,
      `Session ${session.id} was not copied: ${problem?.detail ?? "copying took too long"}.`,
    );
  }
  const copy = await findSession(client, result["sessionId"], signal);
  await setLimits(client, copy, { options, signal });
  return copy;
}

/** A session's limits cover all its turns, whereas the limits on the command line apply only to this one. */
function limitSettings(
  { budget, deadline }: ThreadCommandOptions,
  { usage, settings }: Partial<Pick<Session, "usage" | "settings">> = {},
): Pick<Session["settings"], "budget" | "deadline"> {
  const used = usage?.totalTokens ?? 0;
  return {
    ...(budget === undefined ? {} : { budget: { ...settings?.budget, totalTokens: used + budget } }),
    ...(deadline === undefined ? {} : { deadline: Date.now() + deadline }),
  };
}

/**
 * Applies the limits of the command line. A session that has reached its limits rejects messages until they
 * are raised.
 */
async function setLimits(
  client: DaemonClient,
  session: Session,
  { options, signal }: { options: ThreadCommandOptions; signal: AbortSignal },
): Promise<void> {
  const body = limitSettings(options, session);
  if (Object.keys(body).length === 0) return;
  const { problem } = await client.request("PATCH /sessions/{sessionId}/settings", {
    params: { sessionId: session.id },
    body,
    query: { wait: COMMAND_WAIT_MS },
    signal,
  });
  if (problem) throw new CliError(EXIT.failed, problem.detail);
}

async function findLast(client: DaemonClient, cwd: string, signal: AbortSignal): Promise<Session> {
  const { data } = await client.request("GET /sessions", { query: { limit: 100 }, signal });
  const last = data.filter((session) => session.cwd === cwd).toSorted((a, b) => b.updatedAt - a.updatedAt)[0];
  if (last) return last;
  throw new CliError(EXIT.failed, `The daemon has no session in ${cwd}.`, {
    hint: "Run without --resume, or pass the ID of a session. `codexkit sessions` lists them.",
  });
}

interface FollowOptions {
  readonly client: DaemonClient;
  readonly session: Session;
  readonly commandId: string;
  readonly printer: RunPrinter;
  readonly approvals: SessionApprovals;
  readonly limits: TurnLimits;
  readonly signal: AbortSignal;
}

/**
 * Prints a session's events until the turn of a message has ended. If the turn ends because its requests are parked, continues with
 * the turn that follows their answers.
 */
async function followMessage(options: FollowOptions): Promise<TurnEndEvent> {
  const { client, session, commandId, printer, approvals, limits, signal } = options;
  let turnId: unknown;
  const ends = new Map<unknown, TurnEndEvent>();
  const parked = new ParkedTurn(client, signal);
  const over = AbortSignal.any([signal, limits.signal]);
  limits.signal.addEventListener("abort", () => void interruptSession(client, session.id));
  for await (const event of client.sessionEvents(session.id, { after: session.lastSeq, signal: over })) {
    limits.observe(event);
    approvals.observe(event);
    printer.handle(event);
    if (isTurnEnd(event)) ends.set(event.turnId, event);
    if (event.type === "command.finished" && event.commandId === commandId) {
      if (event.problem) throw new CliError(EXIT.failed, event.problem.detail);
      turnId = event.result?.["turnId"];
    }
    parked.observe(event);
    const end = ends.get(turnId);
    if (!end) continue;
    const outcome = await parked.outcomeOf(end, event);
    if (outcome === "ended") {
      await approvals.settled();
      return end;
    }
    if (outcome !== "waits") turnId = outcome.continuedBy;
  }
  throw signal.aborted
    ? signal.reason
    : (limits.exceeded ?? new CliError(EXIT.failed, "The session was deleted before the turn ended."));
}

function isTurnEnd(event: SessionEvent): event is TurnEndEvent {
  return event.type === "turn.completed" || event.type === "turn.interrupted" || event.type === "turn.failed";
}

/** Handles Ctrl-C: the first one interrupts the turn, the second one exits. */
function interruptByKey(client: DaemonClient, sessionId: string, printer: RunPrinter): Disposable {
  let isInterrupted = false;
  return lifetime.onInterrupt(() => {
    if (isInterrupted) {
      lifetime.end(EXIT.interrupted);
      return;
    }
    isInterrupted = true;
    printer.setActivity("interrupting; press Ctrl-C again to exit");
    void interruptSession(client, sessionId);
  });
}

/** Interrupts the turn. A turn that has just ended can't be interrupted. */
async function interruptSession(client: DaemonClient, sessionId: string): Promise<void> {
  await client
    .request("POST /sessions/{sessionId}/interrupt", { params: { sessionId } })
    .catch(() => undefined);
}

/** Converts the images to data URLs, because the daemon may be on another machine. */
export async function toMessage(
  prompt: string,
  images: readonly string[] = [],
): Promise<CommandBody<"message">["input"]> {
  // This checks the files.
  toInput(prompt, images);
  if (images.length === 0) return prompt;
  const parts = await Promise.all(
    images.map(async (image) => {
      const type = imageType(resolve(image));
      const data = await readFile(resolve(image), "base64");
      return { type: "image" as const, url: `data:image/${type};base64,${data}` };
    }),
  );
  return [{ type: "text", text: prompt }, ...parts];
}
