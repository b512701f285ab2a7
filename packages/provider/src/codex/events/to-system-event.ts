import type { CodexEvent, v2 } from "codexkit";
import type { SystemEvent } from "../../contract/agent-event.ts";

/** Warnings about server requests without a handler. */
const UNHANDLED: ReadonlySet<string> = new Set([
  "unanswered_request",
  "unknown_request",
  "request_handler_failed",
] satisfies Extract<CodexEvent, { type: "warning" }>["kind"][]);

/** Converts events that are neither text nor tools. Undefined if the contract has another event for it. */
export function toSystemEvent(event: CodexEvent): SystemEvent | undefined {
  switch (event.type) {
    case "warning":
      return system(UNHANDLED.has(event.kind) ? "unhandled_server_request" : event.kind, event.message);
    case "plan.updated":
      return system("plan_updated", event.plan.map(({ step, status }) => `${status}: ${step}`).join("\n"));
    case "diff.updated":
      return system("diff_updated", `The diff of this turn has ${event.diff.split("\n").length} lines.`);
    case "item.completed":
      return itemEvent(event.item);
    case "notice":
    case "unknown":
      return system(event.raw.method, "");
    default:
      return undefined;
  }
}

function itemEvent(item: v2.ThreadItem): SystemEvent | undefined {
  switch (item.type) {
    case "reasoning":
      return system("reasoning", [...item.summary, ...item.content].join("\n"));
    case "plan":
      return system("plan", item.text);
    case "subAgentActivity":
      return system("subagent_activity", `${item.kind}: ${item.agentPath}`);
    case "contextCompaction":
      return system("context_compacted", "");
    case "hookPrompt":
      return system("hook_prompt", item.fragments.map(({ text }) => text).join("\n"));
    case "enteredReviewMode":
    case "exitedReviewMode":
      return system(item.type, item.review);
    default:
      return undefined;
  }
}

function system(subtype: string, message: string): SystemEvent {
  return { kind: "system", subtype, message };
}
