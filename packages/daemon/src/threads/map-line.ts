import { emptyTurnResult } from "../journal/empty-turn-result.ts";
import type { v2 } from "codexkit";
import type { ThreadEvent } from "../api/thread.ts";
import type { StoredTurnResult } from "../api/event.ts";
import { createProblem } from "../api/problem.ts";
import { asText, isObject, mapItem } from "./map-item.ts";
import { toTime } from "./rollout-meta.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Location of a line, used to create IDs for items without one. */
interface LinePlace {
  readonly threadId: string;
  readonly offset: number;
}

/**
 * Converts a rollout line to an event. Returns undefined for lines that are not part of the history that users see:
 * model input, settings, token counts. `turnId` is empty if an old rollout does not have it.
 */
export function mapLine(value: unknown, { threadId, offset }: LinePlace): ThreadEvent | undefined {
  if (!isObject(value) || value["type"] !== "event_msg" || !isObject(value["payload"])) return undefined;
  const { payload } = value;
  const at = toTime(typeof value["timestamp"] === "string" ? value["timestamp"] : undefined) ?? 0;
  const turnId = typeof payload["turn_id"] === "string" ? payload["turn_id"] : "";
  const base = { threadId, turnId, at };
  switch (payload["type"]) {
    case "task_started":
    case "turn_started":
      return { type: "turn.started", ...base };
    case "task_complete":
    case "turn_complete":
      return toTurnEnd(payload, base);
    case "turn_aborted":
      return { type: "turn.interrupted", ...base, result: toResult("interrupted", payload, base) };
    default: {
      const item = toItem(payload, offset);
      return item && { type: "item.completed", ...base, item };
    }
  }
}

function toTurnEnd(payload: Fields, base: { threadId: string; turnId: string; at: number }): ThreadEvent {
  const { error } = payload;
  if (!isObject(error)) {
    return { type: "turn.completed", ...base, result: toResult("completed", payload, base) };
  }
  const message = typeof error["message"] === "string" ? error["message"] : "The turn failed.";
  const problem = createProblem("codex_failed", message);
  return { type: "turn.failed", ...base, result: toResult("failed", payload, base), problem };
}

function toResult(
  status: StoredTurnResult["status"],
  payload: Fields,
  { threadId, turnId }: { threadId: string; turnId: string },
): StoredTurnResult {
  const { last_agent_message: message, duration_ms: durationMs } = payload;
  return {
    ...emptyTurnResult(threadId, turnId, status),
    finalResponse: typeof message === "string" ? message : "",
    durationMs: typeof durationMs === "number" ? durationMs : null,
  };
}

/** Items of paginated threads have lines of their own. Older threads have events of several types. */
function toItem(payload: Fields, offset: number): v2.ThreadItem | undefined {
  const { type, message, text, call_id: callId, invocation } = payload;
  const id = typeof callId === "string" ? callId : `line-${offset}`;
  switch (type) {
    case "item_completed":
      return mapItem(payload["item"], {
        startedAtMs: payload["started_at_ms"],
        completedAtMs: payload["completed_at_ms"],
      });
    case "user_message": {
      const images = [payload["images"]].flat().filter((url) => typeof url === "string");
      return mapItem({
        type: "userMessage",
        id,
        content: [
          { type: "text", text: asText(message), text_elements: [] },
          ...images.map((url) => ({ type: "image", url })),
        ],
      });
    }
    case "agent_message":
      return mapItem({
        type: "agentMessage",
        id,
        content: [{ text: message }],
        phase: payload["phase"] ?? null,
      });
    case "agent_reasoning":
      return mapItem({ type: "reasoning", id, summary_text: [asText(text)] });
    case "context_compacted":
      return mapItem({ type: "contextCompaction", id });
    case "patch_apply_end": {
      const status = payload["success"] === false ? "failed" : "completed";
      return mapItem({ type: "fileChange", id, changes: payload["changes"], status });
    }
    case "exec_command_end": {
      const { call_id: _call, turn_id: _turn, type: _type, ...rest } = payload;
      const status = payload["status"] ?? (payload["exit_code"] === 0 ? "completed" : "failed");
      return mapItem({ ...rest, type: "commandExecution", id, status });
    }
    case "mcp_tool_call_end": {
      const call = isObject(invocation) ? invocation : {};
      const { server = "", tool = "", arguments: input = null } = call;
      const { result, duration } = payload;
      const isError = isObject(result) && "Err" in result;
      return mapItem({
        type: "mcpToolCall",
        id,
        server,
        tool,
        arguments: input,
        status: isError ? "failed" : "completed",
        result: isObject(result) && "Ok" in result ? result["Ok"] : null,
        error: isError ? { message: asText(result["Err"]) } : null,
        duration,
      });
    }
    default:
      return undefined;
  }
}
