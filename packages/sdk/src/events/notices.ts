import type { ServerNotifications } from "@codexkit/protocol";
import type { MappedMethod } from "./parse-notification.ts";

/**
 * The notifications of this release without an event of their own, each with the reason. They reach event streams as
 * `notice`, and listeners of `codex.on` as they are. The type makes the compiler complain about a notification of a later
 * release that is neither here nor among the readers.
 */
export const NOTICES: Readonly<Record<Exclude<keyof ServerNotifications, MappedMethod>, string>> = {
  "thread/status/changed": "Turn events say when a thread is busy; `thread.busy` has the state.",
  "thread/readState/changed": "Bookkeeping of an inbox that a person reads.",
  "thread/archived": "A change of the stored thread, not of what happens in it.",
  "thread/deleted": "A change of the stored thread, not of what happens in it.",
  "thread/unarchived": "A change of the stored thread, not of what happens in it.",
  "thread/closed": "The server unloaded the thread; the next call loads it again.",
  "thread/reverted": "A change of the stored thread, not of what happens in it.",
  "skills/changed": "About the server; `codex.skills` has the list.",
  "thread/name/updated": "A change of the stored thread, not of what happens in it.",
  "thread/attachment/updated": "A change of the stored thread, not of what happens in it.",
  "thread/goal/updated": "`thread.goal` has the state.",
  "thread/goal/cleared": "`thread.goal` has the state.",
  "thread/prediction/updated": "A suggestion for a person that types.",
  "thread/queue/changed": "`thread.queue` has the list.",
  "project/changed": "Bookkeeping of a list of projects that a person reads.",
  "thread/project/updated": "A change of the stored thread, not of what happens in it.",
  "thread/environment/connected": "`codex.environments` has the state.",
  "thread/environment/disconnected": "`codex.environments` has the state.",
  "thread/settings/updated": "The settings of the turns to come.",
  "hook/started": "Hooks are programs of the user beside the turn; their prompts come as items.",
  "hook/completed": "Hooks are programs of the user beside the turn; their prompts come as items.",
  "item/autoApprovalReview/started": "Progress of Codex's own reviewer; its outcome shows in the item.",
  "item/autoApprovalReview/completed": "Progress of Codex's own reviewer; its outcome shows in the item.",
  "autoApprovalReview/strictReviewRequired":
    "Progress of Codex's own reviewer; its outcome shows in the item.",
  "rawResponseItem/completed": "The model's wire format, which items carry in Codex's own.",
  "rawResponse/completed": "The model's wire format, which items carry in Codex's own.",
  "command/exec/outputDelta": "Output of `codex.exec`, which has its own stream.",
  "process/outputDelta": "Output of `codex.exec`, which has its own stream.",
  "process/exited": "The end of a process of `codex.exec`, which has its own promise.",
  "item/commandExecution/terminalInteraction":
    "Input to a command; the output that it causes comes as deltas.",
  "item/fileChange/outputDelta": "No longer sent by Codex.",
  "item/fileChange/patchUpdated": "A patch in the making; `item.completed` has the whole of it.",
  "serverRequest/resolved": "Comes as `approval.resolved` or `question.resolved`.",
  "mcpServer/oauthLogin/completed": "The answer to `codex.mcp.login`, which has its own promise.",
  "mcpServer/startupStatus/updated": "`codex.mcp` has the state.",
  "mcpServer/event/stream/notification": "A stream that is asked for by request, with its own listener.",
  "account/updated": "`codex.account` has the state.",
  "account/gatewayOAuth/changed": "`codex.account` has the state.",
  "account/rateLimits/updated": "`codex.account.rateLimits` has the state.",
  "account/login/completed": "The answer to a login, which has its own promise.",
  "app/list/updated": "`codex.apps` has the list.",
  "remoteControl/status/changed": "About the server, not about a thread.",
  "externalAgentConfig/import/progress": "Progress of a request that its caller follows.",
  "externalAgentConfig/import/completed": "Progress of a request that its caller follows.",
  "fs/changed": "`codex.files.watch` has its own stream.",
  "item/reasoning/summaryPartAdded": "The `index` of the deltas that follow names the part.",
  "thread/compacted": "Comes as the item `contextCompaction` too.",
  "model/verification": "Bookkeeping between Codex and the backend.",
  "modelProvider/authRecoveryStarted":
    "Codex renews its credentials; a failure ends the turn with `turn.failed`.",
  "modelProvider/authRecoveryCompleted":
    "Codex renews its credentials; a failure ends the turn with `turn.failed`.",
  "turn/moderationMetadata": "Bookkeeping between Codex and the backend.",
  "model/safetyBuffering/updated": "Explains a pause of the stream to a person that watches.",
  "fuzzyFileSearch/sessionUpdated": "`codex.files.search` has its own stream.",
  "fuzzyFileSearch/sessionCompleted": "`codex.files.search` has its own stream.",
  "windows/worldWritableWarning": "The answer to a set-up step of Windows, with a list of folders.",
  "windowsSandbox/setupCompleted": "The answer to a set-up step of Windows.",
  "thread/realtime/started": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/itemAdded": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/item/started": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/item/transcript/delta": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/item/completed": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/transcript/delta": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/transcript/done": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/outputAudio/delta": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/sdp": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/error": "A voice session, which its caller follows by `codex.on`.",
  "thread/realtime/closed": "A voice session, which its caller follows by `codex.on`.",
};

const methods: ReadonlySet<string> = new Set(Object.keys(NOTICES));

export function isNotice(method: string): boolean {
  return methods.has(method);
}
