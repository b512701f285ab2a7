import { isRecord, tryParse } from "./json.ts";

/** The result of a command, for both kinds of model. */
export interface CommandResult {
  readonly output: string;
  /** Undefined while the command is running, or if Codex refused to run it. */
  readonly exitCode?: number;
  /** The session for `writeStdin` while the command is running. */
  readonly sessionId?: number;
}

/** Parses the output of `exec_command` or `write_stdin`: JSON from code, a text header from a direct call. */
export function parseCommandResult(text: string): CommandResult {
  const value = tryParse(text);
  if (isRecord(value) && typeof value["output"] === "string") {
    const { output, exit_code: exitCode, session_id: sessionId } = value;
    return {
      output,
      ...(typeof exitCode === "number" && { exitCode }),
      ...(typeof sessionId === "number" && { sessionId }),
    };
  }
  const mark = "\nOutput:\n";
  const at = text.indexOf(mark);
  if (at === -1) return { output: text };
  // Search only the header, because the command's output may contain the same text.
  const head = text.slice(0, at);
  const exitCode = /^Process exited with code (-?\d+)$/m.exec(head)?.[1];
  const sessionId = /^Process running with session ID (\d+)$/m.exec(head)?.[1];
  return {
    output: text.slice(at + mark.length),
    ...(exitCode !== undefined && { exitCode: Number(exitCode) }),
    ...(sessionId !== undefined && { sessionId: Number(sessionId) }),
  };
}
