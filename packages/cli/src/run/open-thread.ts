import { CHAT_INSTRUCTIONS, permissionsOf, toCollaborationMode } from "@codexkit/daemon/client";
import type { Codex, ServerRequestHandlers, StartThreadOptions, Thread, v2 } from "codexkit";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { ThreadCommandOptions } from "./thread-options.ts";
import { threadsHint } from "../codex/codex-options.ts";
import type { CliContext } from "../context.ts";
import { CliError, EXIT, usageError } from "../errors/cli-error.ts";
import { THREAD_SOURCES } from "../threads/thread-sources.ts";

/** Maximum number of threads in the picker, newest first. */
const PICKER_ENTRIES = 20;

/** Resolves the folder of a thread. Called before anything is started. */
export function resolveFolder({ cd = "." }: ThreadCommandOptions): string {
  const folder = resolve(cd);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) {
    const message = found ? `${folder} is not a folder.` : `The folder ${folder} does not exist.`;
    throw usageError(message, "Pass an existing folder with -C.");
  }
  return folder;
}

/** Starts, resumes or forks the thread that the options name. */
export async function openThread(
  codex: Codex,
  context: CliContext,
  { options, cwd, handlers }: { options: ThreadCommandOptions; cwd: string; handlers: ServerRequestHandlers },
): Promise<Thread> {
  const { resume, fork = false } = options;
  const settings = { ...threadSettings(options), handlers };
  const call = { signal: context.signal };
  if (resume === undefined && !fork) {
    return codex.startThread({ ...settings, cwd }, call);
  }
  const threadId = typeof resume === "string" ? resume : await findThread(codex, context, cwd);
  // A resumed thread keeps its folder unless another one was named.
  const folder = options.cd === undefined ? {} : { cwd };
  const opening = fork
    ? codex.forkThread(threadId, { ...settings, ...folder }, call)
    : codex.resumeThread(threadId, { ...settings, ...folder }, call);
  return opening.catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== "thread_not_found") throw error;
    throw new CliError(EXIT.failed, `There is no thread "${threadId}".`, {
      cause: error,
      hint: threadsHint(options),
    });
  });
}

function threadSettings({
  model,
  effort,
  sandbox = "workspace-write",
  mode = "build",
}: ThreadCommandOptions): Pick<
  StartThreadOptions,
  "model" | "config" | "sandbox" | "approvalPolicy" | "developerInstructions"
> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { config: { model_reasoning_effort: effort } }),
    ...permissionsOf({ permissionMode: sandbox, agentMode: mode, approvalPolicy: "on-request" }),
    ...(mode === "chat" ? { developerInstructions: CHAT_INSTRUCTIONS } : {}),
  };
}

/** Codex keeps the mode of the last turn, so the mode of a resumed thread is set explicitly. */
export function collaborationModeOf(
  { mode = "build", effort, resume, fork }: ThreadCommandOptions,
  thread: Thread,
): v2.TurnStartParams["collaborationMode"] | undefined {
  if (mode !== "plan" && resume === undefined && !fork) return undefined;
  return toCollaborationMode(mode, {
    model: thread.settings.model,
    effort: effort ?? thread.settings.reasoningEffort,
  });
}

/** Lets the user choose a thread. Without a terminal, returns the latest one of this folder. */
async function findThread(codex: Codex, context: CliContext, cwd: string): Promise<string> {
  const { data: threads } = await codex.request(
    "thread/list",
    { cwd, sourceKinds: THREAD_SOURCES, sortKey: "updated_at", modelProviders: [], limit: PICKER_ENTRIES },
    { signal: context.signal },
  );
  const [last] = threads;
  if (!last) {
    throw new CliError(EXIT.failed, `There is no thread to resume in ${cwd}.`, {
      hint: "Run without --resume, or pass the ID of a thread in another folder. `codexkit threads` lists them.",
    });
  }
  if (!context.isInteractive) return last.id;
  const { pickThread } = await import("./pick-thread.ts");
  return pickThread(threads, context);
}
