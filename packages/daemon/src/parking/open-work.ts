import type { InboxRequest } from "../api/approval.ts";
import type { ItemRow } from "../database/tables.ts";
import type { ParkedApproval, ParkedProgress } from "../inbox/parked-inbox.ts";
import { endedItems, findOpenCalls, type ModelCall } from "./rollout-lines.ts";

/** Kinds of items that have side effects, or wait for another item that has side effects. */
const WORK: ReadonlySet<string> = new Set([
  "commandExecution",
  "fileChange",
  "mcpToolCall",
  "dynamicToolCall",
  "collabAgentToolCall",
]);

/**
 * Describes what was in progress when an approval was parked: the model's calls without an output, and the items that were started
 * since the model's last response and did not wait for an answer. Their outcome is unknown.
 *
 * @param file The rollout file at the time when the requests waited.
 * @param items The turn's items from the journal.
 * @param waiting IDs of the items that waited for an answer.
 */
export function describeOpenWork(
  file: Uint8Array,
  items: readonly ItemRow[],
  waiting: ReadonlySet<string>,
): Required<Pick<ParkedProgress, "openCalls" | "startedItems">> {
  const calls = findOpenCalls(file);
  const from = calls[0]?.atByte ?? file.length;
  const late = new Set(endedItems(file, from));
  const before = new Set(endedItems(file, 0).filter((id) => !late.has(id)));
  const started = items
    .filter(({ kind, item_id: id }) => WORK.has(kind) && !before.has(id) && !waiting.has(id))
    .map(({ item_id: id }) => id);
  return {
    openCalls: calls.map(({ callId }) => callId),
    startedItems: [...new Set([...started, ...[...late].filter((id) => !waiting.has(id))])],
  };
}

/**
 * Finds the call that a request belongs to. Undefined if it is not among the open calls, for example because a script of the model
 * made it.
 */
export function findCall(
  { call_id: callId, request }: Pick<ParkedApproval, "call_id" | "request">,
  calls: readonly ModelCall[],
): ModelCall | undefined {
  const asked = JSON.parse(request) as InboxRequest;
  if (asked.kind !== "mcpTool" && asked.kind !== "elicitation") {
    const [call, ...others] = calls.filter((each) => each.callId === callId);
    // If the model used an ID twice, it is unknown which call the request belongs to.
    return others.length === 0 ? call : undefined;
  }
  const ofServer = calls.filter(({ namespace }) => namespace === `mcp__${asked.server}`);
  if (asked.kind === "elicitation") return ofServer[0];
  const input = JSON.stringify(asked.arguments ?? {});
  const ofTool = ofServer.filter(({ name }) => name === asked.tool);
  return ofTool.find((call) => sameJson(call.input === "" ? "{}" : call.input, input));
}

function sameJson(left: string, right: string): boolean {
  try {
    return JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));
  } catch {
    return false;
  }
}
