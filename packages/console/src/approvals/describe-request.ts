import { type Approval, type InboxRequest, type Session, splitShell } from "@codexkit/daemon/client";
import { visibleText } from "../ui/visible-text.ts";

export type RequestKind = InboxRequest["kind"];

/** Names of the kinds, for filters and headings. */
export const KIND_LABELS: Readonly<Record<RequestKind, string>> = {
  command: "Commands",
  fileChange: "File changes",
  permissions: "Permissions",
  mcpTool: "MCP tools",
  userInput: "Questions",
  elicitation: "Forms",
};

/** The heading of a card. */
export function titleOf(request: InboxRequest): string {
  switch (request.kind) {
    case "command":
      if (request.network) return `Connect to ${visibleText(request.network.host)}`;
      return request.action === "writeStdin" ? "Type into a running command" : "Run a command";
    case "fileChange":
      return request.changes?.length === 1 ? "Change a file" : "Change files";
    case "permissions":
      return "Grant permissions";
    case "mcpTool":
      return `Call ${visibleText(request.tool ?? "a tool")} of ${visibleText(request.server)}`;
    case "userInput":
      return request.questions.length === 1 ? "Answer a question" : "Answer questions";
    case "elicitation":
      return `${visibleText(request.server)} asks`;
  }
}

/** Summarises a request in one line, for lists and for answered requests. */
export function summarize(request: InboxRequest): string {
  switch (request.kind) {
    case "command":
      return oneLine(
        request.network ? `connect to ${request.network.host}` : splitShell(request.command ?? "").script,
      );
    case "fileChange":
      return oneLine(request.changes?.map(({ path }) => path).join(", ") ?? "files");
    case "permissions":
      return request.reason === null ? "more permissions" : oneLine(request.reason);
    case "mcpTool":
      return oneLine(request.message);
    case "userInput":
      return oneLine(request.questions.map(({ question }) => question).join(" "));
    case "elicitation":
      return oneLine(request.message);
  }
}

/** Describes what allowing the request means for the sandbox. Null if the sandbox is not affected. */
export function describeSandbox(
  request: InboxRequest,
  settings: Session["settings"] | undefined,
): string | null {
  if (request.kind !== "command" && request.kind !== "fileChange") return null;
  const now = settings === undefined ? "" : `${sandboxName(settings)} → `;
  if (request.kind === "fileChange") {
    const below =
      request.grantRoot === null ? "" : `, and later changes below ${visibleText(request.grantRoot)}`;
    return `${now}would write these files${below}`;
  }
  if (request.network)
    return `${now}would connect to ${visibleText(request.network.host)} (${request.network.protocol})`;
  if (request.action === "writeStdin")
    return `${now}would send this input to a command that is running already`;
  if (request.additionalPermissions) return `${now}would run in the sandbox, with the permissions below`;
  return `${now}would run outside the sandbox`;
}

function sandboxName({ permissionMode, agentMode }: Session["settings"]): string {
  if (permissionMode === "bypass" || permissionMode === "danger-full-access") return "no sandbox";
  // Plan and chat sessions are read-only, whatever their permission mode is.
  const isReadOnly = permissionMode === "read-only" || agentMode !== "build";
  return `${isReadOnly ? "read-only" : "workspace-write"}, network off`;
}

/** Whether the request is from a subagent instead of the session's own thread. */
export function isOfAgent(
  { threadId }: Pick<Approval, "threadId">,
  session: Pick<Session, "threadId"> | undefined,
): boolean {
  return session !== undefined && session.threadId !== null && session.threadId !== threadId;
}

/** The name of a session, or its newest message, or its ID. */
export function sessionName(
  session: Pick<Session, "name" | "preview"> | undefined,
  sessionId: string,
): string {
  return oneLine(session?.name ?? "") || oneLine(session?.preview ?? "") || sessionId.slice(0, 8);
}

function oneLine(text: string): string {
  return visibleText(text.trim())
    .replaceAll(/\s*\n\s*/g, " ⏎ ")
    .replaceAll("\t", " ");
}
