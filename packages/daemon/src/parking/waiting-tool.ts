import type { InboxRequest } from "../api/approval.ts";
import type { ApprovalRow } from "../database/tables.ts";
import { findCall } from "./open-work.ts";
import { findCalls, findOpenCalls, isScript, readLines, type RolloutLine } from "./rollout-lines.ts";

/**
 * Whether a call of a tool waits for a decision whose request is not stored yet. This is the case if the thread's file has more
 * open calls of the tool than there are stored requests. Calls that a script makes are not in the file, so a script that names
 * the tool counts as one call.
 *
 * @param requests The stored requests of the turn.
 */
export function waitsForTool(
  file: Uint8Array,
  tool: Extract<InboxRequest, { kind: "mcpTool" }>,
  requests: readonly Pick<ApprovalRow, "request" | "rollout_bytes">[],
): boolean {
  const request = JSON.stringify(tool);
  const lines = [...readLines(file)];
  const open = findOpenCalls(lines);
  const calls = open.filter((call) => findCall({ call_id: null, request }, [call]));
  const waiting = calls.length > 0 ? calls : open.filter(isScript).slice(0, 1);
  const [first] = waiting;
  if (!first) return false;
  if (calls.length === 0 && !isNamedInScript(lines, tool.tool)) return false;
  const asked = requests.filter(
    (row) => row.request === request && (row.rollout_bytes ?? Infinity) > first.atByte,
  );
  return asked.length < waiting.length;
}

/** Searches all calls, because a script that is being waited for was started by an earlier call. */
function isNamedInScript(lines: readonly RolloutLine[], name: string | null): boolean {
  const scripts = findCalls(lines).filter(isScript);
  return name !== null && scripts.some(({ input }) => input.includes(name));
}
