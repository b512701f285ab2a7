import type { Call } from "../call/read-call.ts";
import type { Step } from "./begin-step.ts";
import type { Sessions } from "./sessions.ts";
import { Workspace } from "./workspace.ts";

/** Starts a step, in a temporary folder if the call requests one. */
export async function inWorkspace(
  sessions: Sessions,
  call: Call,
  begin: (call: Call) => Promise<Step>,
): Promise<Step> {
  const { workspace: lifetime } = call.options;
  if (lifetime === undefined) return begin(call);
  const workspace =
    (lifetime === "conversation" && workspaceOf(sessions, call)) || (await Workspace.create());
  try {
    const step = await begin({ ...call, options: { ...call.options, cwd: workspace.path } });
    if (lifetime === "conversation") await keep(step, workspace);
    else step.run.cleanUp(() => workspace.release());
    return step;
  } catch (error) {
    await workspace.release();
    throw error;
  }
}

/** Returns the conversation's folder. The folder is kept when the conversation moves to another thread. */
function workspaceOf(sessions: Sessions, { options, prompt }: Call): Workspace | undefined {
  const threadId = options.threadId ?? prompt.thread?.threadId;
  return threadId === undefined ? undefined : sessions.find(threadId)?.workspace?.retain();
}

async function keep({ session }: Step, workspace: Workspace): Promise<void> {
  const before = session.workspace;
  session.workspace = workspace;
  await before?.release();
}
