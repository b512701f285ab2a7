import { isRecord, tryParse } from "./json.ts";

/** What a command gave back, whichever kind of model ran it. */
export interface CommandResult {
  readonly output: string;
  /** Missing while the command still runs, and where Codex refused to run it. */
  readonly exitCode?: number;
  /** The session to type into while the command still runs. */
  readonly sessionId?: number;
}

/** Reads the text of an `exec_command` or `write_stdin` output: JSON from code, a small header from a direct call. */
export function commandResult(text: string): CommandResult {
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
  // The header only: the command's own output may say the same words.
  const head = text.slice(0, at);
  const exitCode = /^Process exited with code (-?\d+)$/m.exec(head)?.[1];
  const sessionId = /^Process running with session ID (\d+)$/m.exec(head)?.[1];
  return {
    output: text.slice(at + mark.length),
    ...(exitCode !== undefined && { exitCode: Number(exitCode) }),
    ...(sessionId !== undefined && { sessionId: Number(sessionId) }),
  };
}
