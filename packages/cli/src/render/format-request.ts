import { splitShell } from "@codexkit/approvals/shell";
import type { InboxRequest } from "@codexkit/daemon/client";
import type { v2 } from "codexkit";
import { revealLine, revealText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { formatChanges } from "./format-diff.ts";

/** Maximum number of diff lines in an approval. */
const DIFF_LINES = 400;

/** Formats a request with the agent's reason. Hidden characters are made visible. */
export function formatRequest(request: InboxRequest, cwd: string, style: Style): string[] {
  const reason = "reason" in request ? request.reason : null;
  return [
    style.bold(style.yellow(titleOf(request))),
    ...detailsOf(request, cwd, style),
    ...(reason ? [`  ${style.dim("The agent says:")} ${revealLine(reason)}`] : []),
  ];
}

/** Formats a request as one line for a list. */
export function summarizeRequest(request: InboxRequest): string {
  switch (request.kind) {
    case "command":
      return request.network
        ? `connect to ${request.network.host}`
        : splitShell(request.command ?? "").script;
    case "fileChange":
      return `change ${request.changes?.map(({ path }) => path).join(", ") ?? "files"}`;
    case "permissions":
      return "more permissions";
    case "mcpTool":
      return `${request.server}: ${request.tool ?? request.message}`;
    case "userInput":
      return request.questions.map(({ question }) => question).join(" ");
    case "elicitation":
      return `${request.server}: ${request.message}`;
  }
}

/** Heading for questions from the agent, so that they can't be mistaken for questions from codexkit. */
export const QUESTION_TITLE = "The agent has a question";

function titleOf(request: InboxRequest): string {
  switch (request.kind) {
    case "command":
      if (request.network) return `The agent wants to connect to ${revealLine(request.network.host)}`;
      return request.action === "writeStdin"
        ? "The agent wants to type into a running command"
        : "The agent wants to run a command outside the sandbox";
    case "fileChange":
      return "The agent wants to change files";
    case "permissions":
      return "The agent wants more permissions";
    case "mcpTool":
      return `The agent wants to call ${revealLine(request.tool ?? "a tool")} of ${revealLine(request.server)}`;
    case "userInput":
      return QUESTION_TITLE;
    case "elicitation":
      return `${revealLine(request.server)} asks`;
  }
}

function detailsOf(request: InboxRequest, cwd: string, style: Style): string[] {
  switch (request.kind) {
    case "command": {
      const [first = "", ...others] = revealText(splitShell(request.command ?? "").script).split("\n");
      return [
        ...(first === ""
          ? []
          : [`  ${style.cyan("$")} ${style.bold(first)}`, ...others.map((line) => `    ${line}`)]),
        ...(request.cwd === null ? [] : [`  ${style.dim("in")} ${revealLine(request.cwd)}`]),
        ...(request.additionalPermissions === null ? [] : formatJson(request.additionalPermissions)),
      ];
    }
    case "fileChange":
      return [
        ...formatChanges(toChanges(request), style, { cwd, limit: DIFF_LINES }),
        ...(request.grantRoot === null ? [] : [`  and to write below ${revealLine(request.grantRoot)}`]),
      ];
    case "permissions":
      return formatJson(request.permissions);
    case "mcpTool":
      return [
        `  ${revealLine(request.message)}`,
        ...(request.arguments === undefined || request.arguments === null
          ? []
          : formatJson(request.arguments)),
      ];
    case "userInput":
      return request.questions.flatMap(({ id, question, options }) => [
        `  ${style.dim(`${revealLine(id)}:`)} ${revealLine(question)}`,
        ...(options ?? []).map(
          ({ label, description }) =>
            `    ${style.bold(revealLine(label))} ${style.dim(revealLine(description))}`,
        ),
      ]);
    case "elicitation":
      return [
        `  ${revealLine(request.message)}`,
        ...(request.url === null ? [] : [`  ${revealLine(request.url)}`]),
        ...(request.schema === null || request.schema === undefined ? [] : formatJson(request.schema)),
      ];
  }
}

/** The daemon stores the kind of a change as a string. */
function toChanges({ changes }: Extract<InboxRequest, { kind: "fileChange" }>): v2.FileUpdateChange[] {
  return (changes ?? []).map(({ path, kind, diff }) => {
    const type = kind === "add" || kind === "delete" ? kind : "update";
    return { path, diff, kind: type === "update" ? { type, move_path: null } : { type } };
  });
}

function formatJson(value: unknown): string[] {
  return revealText(JSON.stringify(value, undefined, 2) ?? "")
    .split("\n")
    .map((line) => `  ${line}`);
}
