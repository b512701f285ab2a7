import type { ServerNotifications } from "@codexkit/protocol";
import type { MappedMethod } from "./parse-notification.ts";

/**
 * Notifications of this release without a dedicated event type, each with the reason. Event streams carry them as
 * `notice`, and `codex.on` passes them on. A notification of a later release that is neither listed here nor parsed
 * is a type error.
 */
export const NOTICES: Readonly<Record<Exclude<keyof ServerNotifications, MappedMethod>, string>> = {
  "thread/status/changed": "Turn events show when a thread is busy; `thread.busy` has the state.",
  "thread/readState/changed": "Read state of an inbox in a user interface.",
  "thread/archived": "Changes the stored thread, not a running turn.",
  "thread/deleted": "Changes the stored thread, not a running turn.",
  "thread/unarchived": "Changes the stored thread, not a running turn.",
  "thread/closed": "The server unloaded the thread; the next call loads it again.",
  "thread/reverted": "Changes the stored thread, not a running turn.",
  "skills/changed": "About the server; `codex.skills` has the list.",
  "thread/name/updated": "Changes the stored thread, not a running turn.",
  "thread/attachment/updated": "Changes the stored thread, not a running turn.",
  "thread/goal/updated": "`thread.goal` has the state.",
  "thread/goal/cleared": "`thread.goal` has the state.",
  "thread/prediction/updated": "A suggestion for the input field of a user interface.",
  "thread/queue/changed": "`thread.queue` has the list.",
  "project/changed": "State of a project list in a user interface.",
  "thread/project/updated": "Changes the stored thread, not a running turn.",
  "thread/environment/connected": "`codex.environments` has the state.",
  "thread/environment/disconnected": "`codex.environments` has the state.",
  "thread/settings/updated": "Changes the settings of later turns.",
  "hook/started": "Hooks run alongside the turn; their prompts arrive as items.",
  "hook/completed": "Hooks run alongside the turn; their prompts arrive as items.",
  "item/autoApprovalReview/started": "Progress of Codex's own reviewer; the item has its outcome.",
  "item/autoApprovalReview/completed": "Progress of Codex's own reviewer; the item has its outcome.",
  "autoApprovalReview/strictReviewRequired": "Progress of Codex's own reviewer; the item has its outcome.",
  "rawResponseItem/completed": "The model's wire format, which items carry in Codex's own.",
  "rawResponse/completed": "The model's wire format, which items carry in Codex's own.",
  "command/exec/outputDelta": "Output of `codex.exec`, which has its own stream.",
  "process/outputDelta": "Output of `codex.exec`, which has its own stream.",
  "process/exited": "The end of a process of `codex.exec`, which has its own promise.",
  "item/commandExecution/terminalInteraction":
    "Input to a command; the output that it causes comes as deltas.",
  "item/fileChange/outputDelta": "No longer sent by Codex.",
  "item/fileChange/patchUpdated": "A partial patch; `item.completed` has all of it.",
  "serverRequest/resolved": "Published as `approval.resolved` or `question.resolved`.",
  "mcpServer/oauthLogin/completed": "Result of `codex.mcp.login`, which has its own promise.",
  "mcpServer/startupStatus/updated": "`codex.mcp` has the state.",
  "mcpServer/event/stream/notification": "A stream that a request subscribes to, with its own listener.",
  "account/updated": "`codex.account` has the state.",
  "account/gatewayOAuth/changed": "`codex.account` has the state.",
  "account/rateLimits/updated": "`codex.account.rateLimits` has the state.",
  "account/login/completed": "Result of a login, which has its own promise.",
  "app/list/updated": "`codex.apps` has the list.",
  "remoteControl/status/changed": "About the server, not about a thread.",
  "externalAgentConfig/import/progress": "Progress of a request, for its caller.",
  "externalAgentConfig/import/completed": "Progress of a request, for its caller.",
  "fs/changed": "`codex.files.watch` has its own stream.",
  "item/reasoning/summaryPartAdded": "The `index` of the deltas that follow names the part.",
  "thread/compacted": "Also published as the item `contextCompaction`.",
  "model/verification": "Metadata between Codex and its backend.",
  "modelProvider/authRecoveryStarted":
    "Codex renews its credentials; a failure ends the turn with `turn.failed`.",
  "modelProvider/authRecoveryCompleted":
    "Codex renews its credentials; a failure ends the turn with `turn.failed`.",
  "turn/moderationMetadata": "Metadata between Codex and its backend.",
  "model/safetyBuffering/updated": "Explains a pause of the stream in a user interface.",
  "fuzzyFileSearch/sessionUpdated": "`codex.files.search` has its own stream.",
  "fuzzyFileSearch/sessionCompleted": "`codex.files.search` has its own stream.",
  "windows/worldWritableWarning": "Result of a Windows set-up step, with a list of folders.",
  "windowsSandbox/setupCompleted": "Result of a Windows set-up step.",
  "thread/realtime/started": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/itemAdded": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/item/started": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/item/transcript/delta": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/item/completed": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/transcript/delta": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/transcript/done": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/outputAudio/delta": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/sdp": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/error": "A voice session, which its caller observes with `codex.on`.",
  "thread/realtime/closed": "A voice session, which its caller observes with `codex.on`.",
};

const methods: ReadonlySet<string> = new Set(Object.keys(NOTICES));

export function isNotice(method: string): boolean {
  return methods.has(method);
}
