import { CodexError } from "codexkit";
import { permissionsOf } from "../api/agent-mode.ts";
import type { Ownership } from "../database/ownership.ts";
import type { ParkedApproval, ParkedProgress } from "../inbox/parked-inbox.ts";
import type { AnsweredRequest } from "../parking/choose-strategy.ts";
import { type CallOutput, toItem, toMessage } from "../parking/outputs.ts";
import { perform, type PerformedAction } from "../parking/perform.ts";
import { agentReport, refusal, reportFor, siblingReport } from "../parking/reports.ts";
import type { ModelCall } from "../parking/rollout-lines.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { sandboxPolicyOf } from "./map-settings.ts";
import { endOfPerformed } from "./parked-items.ts";
import { isLost } from "./problems.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionState } from "./session-state.ts";

const STOPPED =
  "This call was started, and stopped before it completed. What it did until then was not undone.";

const UNMATCHED =
  "the process that ran it ended. If the request in the message that follows belongs to this call, that message has its outcome. Otherwise the call may have run, completely or in part. Check its effects before you run it again.";

export interface AnswerCallsDeps {
  readonly session: SessionDeps;
  readonly owner: Ownership;
  readonly state: SessionState;
}

/** The items to inject into a thread, and the requests with the progress of their delivery. */
export interface AnsweredCalls {
  readonly items: readonly unknown[];
  readonly rows: readonly ParkedApproval[];
}

/**
 * Performs the accepted actions, and creates an output for every open call of a thread, in the order of the calls. Answers without
 * an open call are reported in a message. Undefined if it was stopped. The progress until then is recorded.
 */
export async function answerCalls(
  loaded: LoadedThread,
  requests: readonly AnsweredRequest[],
  calls: readonly ModelCall[],
  stop: AbortSignal,
  deps: AnswerCallsDeps,
): Promise<AnsweredCalls | undefined> {
  const agents = requests.filter(({ row }) => row.thread_id !== loaded.thread.id);
  const unmatched = requests.filter((asked) => !asked.call && !asked.script && !agents.includes(asked));
  const items: unknown[] = [];
  let isAgentReported = false;
  const rows = new Map(requests.map(({ row }) => [row.id, row]));
  for (const call of calls) {
    const inScript = requests.filter(({ script }) => script === call);
    const request = requests.find((asked) => asked.call === call);
    if (stop.aborted) return undefined;
    if (request) {
      const { row, output } = await outputFor(loaded, request, call, stop, deps);
      rows.set(row.id, row);
      items.push(toItem(call, output));
    } else if (inScript.length > 0) {
      items.push(toItem(call, inScript.map((asked) => reportFor(asked)).join("\n")));
    } else if (agents.length > 0) {
      items.push(toItem(call, agentReport(agents)));
      isAgentReported = true;
    } else {
      items.push(toItem(call, siblingReport(call, unmatched.length > 0 ? UNMATCHED : undefined)));
    }
  }
  if (agents.length > 0 && !isAgentReported) items.push(toMessage(agentReport(agents)));
  if (unmatched.length > 0) items.push(toMessage(unmatched.map((asked) => reportFor(asked)).join("\n")));
  return stop.aborted ? undefined : { items, rows: [...rows.values()] };
}

/** Performs one call. Its start is recorded first, so that it is not repeated after a crash, when its outcome is unknown. */
async function outputFor(
  loaded: LoadedThread,
  asked: AnsweredRequest,
  call: ModelCall,
  stop: AbortSignal,
  { owner, state, session }: AnswerCallsDeps,
): Promise<{ row: ParkedApproval; output: CallOutput }> {
  const { parked } = session.database;
  const { row, request, answer, isAccepted } = asked;
  const { strategy, action, output: stored } = row.progress;
  const withOutput = (output: CallOutput, more: Partial<ParkedProgress> = {}) => ({
    row: { ...row, progress: { ...row.progress, ...more, output } },
    output,
  });
  if (strategy === "report" || action === "begun") {
    return withOutput(reportFor(asked), { strategy: "report" });
  }
  if (action === "done") return { row, output: stored as CallOutput };
  const refused = refusal(request, answer, isAccepted);
  if (refused !== undefined) return withOutput(refused);
  const [begun = row] = await parked.record(owner, [row], { ...row.progress, action: "begun" });
  let performed: PerformedAction;
  try {
    performed = await perform(request, call, {
      codex: loaded.codex,
      threadId: loaded.thread.id,
      cwd: state.cwd,
      sandbox: sandboxPolicyOf(permissionsOf(state.settings).sandbox),
      signal: stop,
    });
  } catch (error) {
    if (!CodexError.is(error) || isLost(error)) throw error;
    performed = { output: stop.aborted ? STOPPED : `failed: ${error.message}` };
  }
  const { output } = performed;
  const events = await endOfPerformed(session.database, owner.sessionId, row, performed);
  const [done = begun] = await parked.record(owner, [begun], { action: "done", output }, { events });
  return { row: done, output };
}
