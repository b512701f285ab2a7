import type { AnyTool, Codex, StartThreadOptions, Thread } from "codexkit";
import { PromptError } from "../errors.ts";
import type { RenderedTool } from "../prompt/render-prompt.ts";
import type { PromptSession } from "../session/session.ts";
import type { EvaluateOptions, PromptThreadOptions } from "./options.ts";
import { closeInTime } from "./stop-control.ts";
import { hashSettings, hashTools, isReusable, usedThread } from "./thread-reuse.ts";

export interface ThreadRequest {
  readonly codex: Codex;
  readonly session: PromptSession;
  readonly options: EvaluateOptions;
  readonly tools: readonly RenderedTool[];
  readonly toSdkTool: (tool: RenderedTool) => AnyTool;
  readonly onWarning: (message: string, error: unknown) => void;
}

/** Returns the folder that an evaluation works in. */
export function folderOf({ thread, workspace }: EvaluateOptions): string {
  return thread?.cwd ?? workspace?.root ?? process.cwd();
}

/** Continues the session's thread if requested and possible. Otherwise starts a new one. */
export async function openThread(request: ThreadRequest): Promise<Thread> {
  const { codex, session, options, tools } = request;
  const { workspace, budget, thread: settings = {} } = options;
  const cwd = folderOf(options);
  checkServerNames(Object.keys(settings.mcpServers ?? {}), tools);
  const fingerprint = settings.reuse ? await workspace?.fingerprint() : undefined;
  const threadOptions = toThreadOptions(settings, cwd);
  const wanted = {
    cwd,
    fingerprint,
    tools: hashTools(tools),
    settings: hashSettings(threadOptions),
  };
  const startOptions = { ...threadOptions, tools: tools.map(request.toSdkTool) };
  const resumed = settings.reuse ? await resumeThread(request, wanted, startOptions) : undefined;
  const thread = resumed ?? (await codex.startThread(startOptions));
  try {
    budget?.checkModel(thread.settings.model);
    if (!settings.ephemeral) session.update(usedThread, () => ({ threadId: thread.id, ...wanted }));
    return thread;
  } catch (error) {
    await closeInTime(thread);
    throw error;
  }
}

/**
 * Records the workspace content after the evaluation. The agent knows its own changes, so its thread can be continued as long as
 * nothing else changes the workspace.
 */
export async function recordContent({
  session,
  options,
}: Pick<ThreadRequest, "session" | "options">): Promise<void> {
  const { workspace, thread } = options;
  if (!thread?.reuse || !workspace) return;
  const fingerprint = await workspace.fingerprint();
  session.update(usedThread, (used) => used && { ...used, fingerprint });
}

async function resumeThread(
  { codex, session, onWarning }: ThreadRequest,
  wanted: Parameters<typeof isReusable>[1],
  // Codex forgets the settings of a thread that it unloads, so they are passed again. `ephemeral` and `reuse` are exclusive.
  { ephemeral: _ephemeral, ...options }: StartThreadOptions,
): Promise<Thread | undefined> {
  const used = session.get(usedThread);
  if (!isReusable(used, wanted)) return undefined;
  try {
    return await codex.resumeThread(used.threadId, options);
  } catch (error) {
    onWarning(`Thread ${used.threadId} could not be resumed, so a new thread was started.`, error);
    return undefined;
  }
}

function toThreadOptions(settings: PromptThreadOptions, cwd: string): StartThreadOptions {
  const {
    model,
    sandbox,
    approvalPolicy = "never",
    mcpServers,
    ephemeral,
    handlers,
    network,
    env,
    config,
  } = settings;
  return {
    cwd,
    approvalPolicy,
    ...(model !== undefined && { model }),
    ...(sandbox !== undefined && { sandbox }),
    ...(mcpServers && { mcpServers }),
    ...(ephemeral !== undefined && { ephemeral }),
    ...(handlers && { handlers }),
    config: {
      ...(network !== undefined && { sandbox_workspace_write: { network_access: network } }),
      ...(env && { shell_environment_policy: { set: { ...env } } }),
      ...config,
    },
  };
}

/** Rejects an MCP server with the name of a tool, because the model could not distinguish them. */
function checkServerNames(servers: readonly string[], tools: readonly RenderedTool[]): void {
  const clash = servers.find((server) => tools.some(({ tool }) => tool.name === server));
  if (clash === undefined) return;
  throw new PromptError(
    "invalid_option",
    `The MCP server "${clash}" has the same name as one of the prompt's tools. Rename one of them.`,
  );
}
