import type { InboxRequest } from "../api/approval.ts";
import type { ItemRow } from "../database/tables.ts";
import type { ParkedApproval, ParkedProgress } from "../inbox/parked-inbox.ts";
import { endedItems, findOpenCalls, type ModelCall, type RolloutLine } from "./rollout-lines.ts";

/** Kinds of items that have side effects, or wait for another item that has side effects. */
const WORK: ReadonlySet<string> = new Set([
  "commandExecution",
  "fileChange",
  "mcpToolCall",
  "dynamicToolCall",
  "collabAgentToolCall",
]);

const HAS_ENDED: ReadonlySet<ItemRow["status"]> = new Set(["completed", "failed"]);

/** Parts of an item of an MCP tool. */
interface ToolItem {
  readonly server?: string;
  readonly tool?: string;
  readonly arguments?: unknown;
}

/**
 * Describes what was in progress when an approval was parked: the model's calls without an output, and the items that were started
 * since the model's last response and did not wait for an answer. Their outcome is unknown.
 *
 * @param lines The rollout file at the time when the requests waited.
 * @param items The turn's items from the journal.
 * @param waiting IDs of the items that waited for an answer.
 */
export function describeOpenWork(
  lines: readonly RolloutLine[],
  items: readonly ItemRow[],
  waiting: ReadonlySet<string>,
): Required<Pick<ParkedProgress, "openCalls" | "startedItems">> {
  const calls = findOpenCalls(lines);
  const from = calls[0]?.atByte ?? Infinity;
  const late = new Set(endedItems(lines.filter(({ atByte }) => atByte >= from)));
  const before = new Set(endedItems(lines).filter((id) => !late.has(id)));
  const started = items
    .filter(({ kind, item_id: id }) => WORK.has(kind) && !before.has(id) && !waiting.has(id))
    .map(({ item_id: id }) => id);
  return {
    openCalls: calls.map(({ callId }) => callId),
    startedItems: [...new Set([...started, ...[...late].filter((id) => !waiting.has(id))])],
  };
}

/**
 * Finds the items of MCP tools that wait for an answer, because their requests don't name them. If more equal calls are open than
 * requests, it is unknown which ones wait, and none is returned.
 *
 * @param items The turn's items from the journal.
 */
export function findWaitingTools(
  requests: readonly Pick<ParkedApproval, "request">[],
  items: readonly ItemRow[],
): readonly string[] {
  const open = items.filter(({ kind, status }) => kind === "mcpToolCall" && !HAS_ENDED.has(status));
  return requests.flatMap(({ request }) => {
    const asked = JSON.parse(request) as InboxRequest;
    if (asked.kind !== "mcpTool") return [];
    const calls = open.filter(({ preview }) => isCallOf(JSON.parse(preview) as ToolItem, asked));
    const equal = requests.filter((other) => other.request === request);
    return calls.length <= equal.length ? calls.map(({ item_id: id }) => id) : [];
  });
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

function isCallOf(item: ToolItem, asked: Extract<InboxRequest, { kind: "mcpTool" }>): boolean {
  if (item.server !== asked.server || item.tool !== asked.tool) return false;
  return JSON.stringify(item.arguments ?? {}) === JSON.stringify(asked.arguments ?? {});
}

function sameJson(left: string, right: string): boolean {
  try {
    return JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));
  } catch {
    return false;
  }
}
