import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { z } from "zod";
import { DaemonError } from "../errors.ts";
import { parseJson } from "./parse-json.ts";
import { sessionFileLine, type SessionFileLine } from "./session-file.ts";

/** Maximum bytes of one line. An event is stored in one line, including the output of its command. */
export const LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 10;

/**
 * Yields the validated lines of a file, without the last one. Rejects with `unprocessable` if it is not a regular file,
 * or if a line or the end is invalid.
 */
export async function* readSessionFile(path: string, maxLineBytes: number): AsyncGenerator<SessionFileLine> {
  // Otherwise, opening a pipe would wait for its writer.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await file.stat()).isFile()) {
    throw new DaemonError("unprocessable", "An exported session must be a regular file.");
  }
  const hash = createHash("sha256");
  let count = 0;
  let end: SessionFileLine | undefined;
  for await (const bytes of splitLines(file.createReadStream({ autoClose: false }), maxLineBytes)) {
    if (end) throw invalid(count, "The file continues after its end line.");
    const line = parseLine(bytes, count + 1);
    if ((line.kind === "session") !== (count === 0))
      throw invalid(count + 1, "The first line must be a `session` line.");
    if (line.kind === "end") {
      end = line;
      if (line.lines !== count || line.sha256 !== hash.digest("hex")) {
        throw invalid(count + 1, "The checksum does not match. The file was changed, or a part is missing.");
      }
      continue;
    }
    hash.update(bytes);
    count += 1;
    yield line;
  }
  if (!end) throw invalid(count, "The end line is missing.");
}

function parseLine(bytes: Buffer, number: number): SessionFileLine {
  let value: unknown;
  try {
    value = parseJson(bytes.toString());
  } catch {
    throw invalid(number, "It is not valid JSON, or has too many levels.");
  }
  const parsed = sessionFileLine.safeParse(value);
  if (!parsed.success) throw invalid(number, z.prettifyError(parsed.error));
  return parsed.data;
}

/** Yields lines including their line breaks. */
async function* splitLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, at + 1)]);
      parts = [];
      length = 0;
      start = at + 1;
    }
    const rest = chunk.subarray(start);
    length += rest.length;
    if (length > maxBytes) throw invalid(0, `A line is longer than ${maxBytes} bytes.`);
    if (rest.length > 0) parts.push(rest);
  }
  if (length > 0) yield Buffer.concat(parts);
}

function invalid(line: number, reason: string): DaemonError {
  return new DaemonError("unprocessable", `Line ${line} of the exported session is invalid. ${reason}`);
}
