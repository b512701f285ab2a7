import { randomBytes } from "node:crypto";
import type { InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { ModelCall } from "./rollout-lines.ts";

/** The body of a call's output: a text, or parts. */
export type CallOutput = string | readonly Readonly<Record<string, unknown>>[];

/** The result of a command that the daemon ran in place of Codex. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
  readonly wallMs: number;
}

/** Codex's output for a call that a person refused, by kind of request. */
export const REFUSED = {
  command: `exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }`,
  fileChange: "patch rejected by user",
} as const;

/** Maximum output tokens of a command that sets no limit. Codex's number. */
const MAX_OUTPUT_TOKENS = 10_000;
/** Codex's own estimate. */
const BYTES_PER_TOKEN = 4;

/** Creates the output item of a call. */
export function toItem({ type, callId }: ModelCall, output: CallOutput): Readonly<Record<string, unknown>> {
  return { type: `${type}_output`, call_id: callId, output };
}

/** Creates a message that informs the model outside of a call. */
export function toMessage(text: string): Readonly<Record<string, unknown>> {
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

/** Formats the output of a command in the same way as Codex's `exec_command`. */
export function commandOutput(
  { exitCode, output, wallMs }: CommandEnd,
  maxTokens = MAX_OUTPUT_TOKENS,
): string {
  const tokens = Math.ceil(Buffer.byteLength(output) / BYTES_PER_TOKEN);
  return [
    `Chunk ID: ${randomBytes(3).toString("hex")}`,
    `Wall time: ${(wallMs / 1000).toFixed(4)} seconds`,
    `Process exited with code ${exitCode}`,
    `Original token count: ${tokens}`,
    "Output:",
    truncateMiddle(output, maxTokens),
  ].join("\n");
}

/** Formats the output of a patch in the same way as Codex, for `apply_patch` or for a patch that was sent as a command. */
export function patchOutput({ exitCode, output, wallMs }: CommandEnd, call: ModelCall): string {
  const text = `Exit code: ${exitCode}\nWall time: ${(wallMs / 1000).toFixed(1)} seconds\nOutput:\n${output}`;
  return call.type === "custom_tool_call" ? text : `Wall time: 0.0000 seconds\nOutput:\n${text}`;
}

/** Creates the same parts as Codex for the result of an MCP tool. */
export function mcpOutput(content: readonly unknown[], wallMs: number): CallOutput {
  return [
    { type: "input_text", text: `Wall time: ${(wallMs / 1000).toFixed(4)} seconds\nOutput:` },
    ...content.map(toPart),
  ];
}

export function answersOutput(answer: InboxAnswer | undefined): string {
  const answers = answer?.type === "answers" ? answer.answers : {};
  const entries = Object.entries(answers).map(([id, value]) => [id, { answers: [value].flat() }]);
  return JSON.stringify({ answers: Object.fromEntries(entries) });
}

export function refusedPermissionsOutput(): string {
  return JSON.stringify({ permissions: { network: null, file_system: null }, scope: "turn" });
}

/** Describes a call with unknown outcome to the model. */
export function unknownOutcome(what: string): string {
  return `${what} was interrupted: the process that ran it ended. It may have run, completely or in part, and its output is lost. It was not repeated. Check its effects before you run it again.`;
}

/** Describes a request to the model, in one line. */
export function describeRequest(request: InboxRequest): string {
  switch (request.kind) {
    case "command":
      if (request.network) return `the connection of ${describeCommand(request)} to ${request.network.host}`;
      if (request.action === "writeStdin") return `the terminal input ${request.command ?? ""}`;
      return describeCommand(request);
    case "fileChange":
      return `changes of ${request.changes?.map(({ path }) => path).join(", ") ?? "files"}`;
    case "permissions":
      return `the permissions ${JSON.stringify(request.permissions)}`;
    case "mcpTool":
      return `the tool ${request.tool ?? ""} of the MCP server ${request.server}`;
    case "userInput":
      return `the question ${request.questions.map(({ question }) => question).join(" ")}`;
    case "elicitation":
      return `the form of the MCP server ${request.server}: ${request.message}`;
  }
}

function describeCommand({ command }: Extract<InboxRequest, { kind: "command" }>): string {
  return command === null ? "the command" : `the command ${command}`;
}

function toPart(block: unknown): Readonly<Record<string, unknown>> {
  const { type, text, data, mimeType } = (block ?? {}) as Record<string, unknown>;
  if (type === "text" && typeof text === "string") return { type: "input_text", text };
  if (type === "image" && typeof data === "string") {
    return { type: "input_image", image_url: `data:${String(mimeType)};base64,${data}` };
  }
  return { type: "input_text", text: JSON.stringify(block) };
}

/** Keeps the beginning and the end, as Codex does. */
function truncateMiddle(text: string, maxTokens: number): string {
  const limit = maxTokens * BYTES_PER_TOKEN;
  if (Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text);
  const half = Math.floor(limit / 2);
  const removed = Math.ceil((bytes.length - 2 * half) / BYTES_PER_TOKEN);
  const head = bytes.toString("utf8", 0, half);
  const tail = bytes.toString("utf8", bytes.length - half);
  return `Total output lines: ${text.split("\n").length}\n\n${head}…${removed} tokens truncated…${tail}`;
}
