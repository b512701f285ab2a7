import { DaemonError } from "../errors.ts";
import { unreadable } from "./cli-home.ts";
import { isObject } from "./map-item.ts";
import { readLines, readLinesBackward } from "./rollout-lines.ts";
import { parseJson } from "./rollout-meta.ts";
import type { ThreadFiles } from "./thread-files.ts";

/** A message with an image makes a line long. Codex could not return the item of a longer line in one message. */
const LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;
const CHUNK_BYTES = 1024 * 1024;

export interface CopyOptions {
  /** ID of the copy. Default: the original ID. */
  readonly threadId?: string;
  /** Copies only the lines before this number. Lines are counted across all files, from 0. */
  readonly lines?: number;
}

/**
 * Yields the history of a thread as one rollout file. A single file is copied byte by byte. If the thread continues
 * other files, their lines are combined, so that the copy does not depend on them. Rejects with `thread_unreadable` if
 * that is not possible.
 */
export async function* copyThread(
  files: ThreadFiles,
  { threadId, lines }: CopyOptions = {},
): AsyncGenerator<Buffer> {
  const isWhole = threadId === undefined && lines === undefined && files.segments.length === 1;
  if (isWhole) yield* copyBytes(files);
  else yield* joinLines(files, { lines, threadId: threadId ?? files.main.meta.threadId });
}

/** Copies through the last complete line. */
async function* copyBytes({ main }: ThreadFiles): AsyncGenerator<Buffer> {
  const { handle } = main.rollout;
  const range = { from: 0, to: main.to, maxLineBytes: 0 };
  const last = await readLinesBackward(handle, range).next();
  const end = last.done === true ? 0 : last.value.end;
  let lineStart = 0;
  for (let position = 0; position < end;) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0)
      throw unreadable(main.rollout.name.path, "It became shorter while it was being copied.");
    const bytes = buffer.subarray(0, bytesRead);
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      lineStart = position + at + 1;
    }
    position += bytesRead;
    if (position - lineStart > LINE_BYTES) {
      throw unreadable(main.rollout.name.path, `The line at byte ${lineStart} is too long.`);
    }
    yield bytes;
  }
}

async function* joinLines(
  files: ThreadFiles,
  { threadId, lines = Number.POSITIVE_INFINITY }: { threadId: string; lines: number | undefined },
): AsyncGenerator<Buffer> {
  const { line, threadId: originalId } = files.main.meta;
  const { history_base: _base, forked_from_ordinal_exclusive: _ordinal, ...payload } = line.payload;
  const isCopy = threadId !== originalId;
  const ids = { id: threadId, session_id: threadId, ...(isCopy && { forked_from_id: originalId }) };
  let ordinal = 0;
  const encode = (value: Readonly<Record<string, unknown>>): Buffer => {
    const numbered = "ordinal" in value ? { ...value, ordinal } : value;
    ordinal += 1;
    return Buffer.from(`${JSON.stringify(numbered)}\n`);
  };
  yield encode({ ...line, payload: { ...payload, ...ids } });
  for await (const { value, number } of readValues(files)) {
    if (number >= lines) return;
    if (value["type"] === "session_meta") continue;
    yield encode(
      isObject(value["payload"]) ? { ...value, payload: replaceThreadId(value["payload"], threadId) } : value,
    );
  }
}

/** Replaces the thread ID in a line. The ID may also be that of the forked thread. */
function replaceThreadId(
  payload: Readonly<Record<string, unknown>>,
  threadId: string,
): Readonly<Record<string, unknown>> {
  return {
    ...payload,
    ...(typeof payload["thread_id"] === "string" && { thread_id: threadId }),
    ...(typeof payload["session_id"] === "string" && { session_id: threadId }),
  };
}

/**
 * Returns the number of lines through the end of a turn, or of the last turn that has ended. Undefined means all lines.
 * Rejects with `turn_running` or `unprocessable` if there is no such turn.
 */
export async function findEnd(
  files: ThreadFiles,
  lastTurnId: string | undefined,
): Promise<number | undefined> {
  let runningTurnId: string | undefined;
  /** Line at which the newest turn starts. */
  let start = 0;
  let hasEnded = false;
  for await (const { value, number } of readValues(files)) {
    if (value["type"] !== "event_msg" || !isObject(value["payload"])) continue;
    const { type, turn_id: turnId } = value["payload"];
    if (type === "task_started" || type === "turn_started") {
      if (hasEnded) return number;
      start = number;
      runningTurnId = typeof turnId === "string" ? turnId : undefined;
    } else if (type === "task_complete" || type === "turn_complete" || type === "turn_aborted") {
      if (lastTurnId !== undefined && turnId === lastTurnId) hasEnded = true;
      runningTurnId = undefined;
    }
  }
  if (hasEnded) return undefined;
  if (lastTurnId === undefined) return runningTurnId === undefined ? undefined : start;
  if (runningTurnId === lastTurnId) {
    throw new DaemonError("turn_running", `The turn ${lastTurnId} has not ended.`);
  }
  throw new DaemonError("unprocessable", `The thread has no turn "${lastTurnId}" that has ended.`);
}

/** Yields the lines of all files, without the first line of each, numbered from 0. */
async function* readValues(
  files: ThreadFiles,
): AsyncGenerator<{ readonly value: Readonly<Record<string, unknown>>; readonly number: number }> {
  let number = 0;
  for (const { rollout, from, to } of files.segments) {
    for await (const { text, offset } of readLines(rollout.handle, { from, to, maxLineBytes: LINE_BYTES })) {
      const value = parseJson(text);
      if (!isObject(value)) {
        throw unreadable(rollout.name.path, `The line at byte ${offset} is too long or not a JSON object.`);
      }
      yield { value, number };
      number += 1;
    }
  }
}
