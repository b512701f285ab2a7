import type { Session, SessionEvent } from "@codexkit/daemon/client";

/** The parts of an exported session that the page shows. */
export interface ExportedSession {
  readonly session: Pick<Session, "id" | "threadId" | "name" | "cwd" | "settings" | "goal" | "preview">;
  readonly codexVersion: string | null;
  readonly events: readonly SessionEvent[];
}

/** The file is not an exported session. */
export class ExportError extends Error {
  override readonly name = "ExportError";
}

const FORMAT = 1;
const HAS_ITEM = new Set(["item.started", "item.completed"]);

interface Line {
  readonly kind?: unknown;
  readonly [name: string]: unknown;
}

/** Reads an exported session line by line. Lines that a page does not show are skipped. */
export async function readExport(chunks: AsyncIterable<Uint8Array>): Promise<ExportedSession> {
  let header: Pick<ExportedSession, "session" | "codexVersion"> | undefined;
  const events: SessionEvent[] = [];
  let number = 0;
  let isComplete = false;
  for await (const text of splitLines(chunks)) {
    number += 1;
    const line = parseLine(text, number);
    if (number === 1) {
      header = readHeader(line);
      continue;
    }
    if (line.kind === "event") events.push(readEvent(line, number));
    isComplete = line.kind === "end";
  }
  if (!header) throw new ExportError("The file is empty.");
  if (!isComplete) throw new ExportError(`The file ends after line ${number}: its last part is missing.`);
  return { ...header, events };
}

function parseLine(text: string, number: number): Line {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null) return value as Line;
  } catch {
    // Reported below, with the expected format.
  }
  throw new ExportError(
    number === 1
      ? "Expected a session that was exported by the daemon (GET /sessions/{sessionId}/export)."
      : `Line ${number} is not a JSON object.`,
  );
}

function readHeader(line: Line): Pick<ExportedSession, "session" | "codexVersion"> {
  if (line.kind !== "session" || typeof line["session"] !== "object" || line["session"] === null) {
    throw new ExportError(
      "Expected a session that was exported by the daemon (GET /sessions/{sessionId}/export).",
    );
  }
  if (line["format"] !== FORMAT) {
    throw new ExportError(
      `The file has format ${String(line["format"])}; this console reads format ${FORMAT}.`,
    );
  }
  return {
    session: line["session"] as ExportedSession["session"],
    codexVersion: typeof line["codexVersion"] === "string" ? line["codexVersion"] : null,
  };
}

/** The columns of the journal: the event itself is JSON in one of them. */
function readEvent(line: Line, number: number): SessionEvent {
  const { seq, epoch, at, type, data, turn_id: turnId, item_id: itemId } = line;
  try {
    const fields = typeof data === "string" ? (JSON.parse(data) as object) : undefined;
    if (fields && typeof seq === "number" && typeof at === "number") {
      return {
        ...fields,
        type,
        seq,
        epoch,
        at,
        ...(typeof turnId === "string" && { turnId }),
        // These events contain the item. The column is only for lookups.
        ...(typeof itemId === "string" && !HAS_ITEM.has(String(type)) && { itemId }),
      } as unknown as SessionEvent;
    }
  } catch {
    // Reported below, with the line.
  }
  throw new ExportError(`Line ${number} is not an event.`);
}

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of chunks) {
    const parts = (tail + decoder.decode(chunk, { stream: true })).split("\n");
    tail = parts.pop() ?? "";
    yield* parts.filter((part) => part !== "");
  }
  tail += decoder.decode();
  if (tail !== "") yield tail;
}
