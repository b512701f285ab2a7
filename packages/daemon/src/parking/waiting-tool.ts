import type { InboxRequest } from "../api/approval.ts";
import type { ApprovalRow } from "../database/tables.ts";
import { findCall } from "./open-work.ts";
import { findCalls, findOpenCalls, isScript, type ModelCall } from "./rollout-lines.ts";

/**
 * Whether the model has called a tool, and waits for the decision of a person about it: the thread's file has more open calls of
 * the tool than requests about them are stored. The call of a script is not in the file, so that the script has to name the tool,
 * and counts as one call.
 *
 * @param requests The stored requests of the turn.
 */
export function waitsForTool(
  file: Uint8Array,
  tool: Extract<InboxRequest, { kind: "mcpTool" }>,
  requests: readonly Pick<ApprovalRow, "request" | "rollout_bytes">[],
): boolean {
  const request = JSON.stringify(tool);
  const open = findOpenCalls(file);
  const calls = open.filter((call) => findCall({ call_id: null, request }, [call]));
  const waiting = calls.length > 0 ? calls : open.filter(isScript).slice(0, 1);
  const [first] = waiting;
  if (!first) return false;
  if (calls.length === 0 && !isNamedInScript(file, tool.tool)) return false;
  const asked = requests.filter(
    (row) => row.request === request && (row.rollout_bytes ?? Infinity) > first.atByte,
  );
  return asked.length < waiting.length;
}

/** A script that is waited for was written by an earlier call. */
function isNamedInScript(file: Uint8Array, name: string | null): boolean {
  const scripts: readonly ModelCall[] = findCalls(file).filter(isScript);
  return name !== null && scripts.some(({ input }) => input.includes(name));
}
