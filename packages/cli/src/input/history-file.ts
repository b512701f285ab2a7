import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Maximum number of messages to keep. */
const MAX_ENTRIES = 1_000;

/**
 * The messages that the user sent in earlier conversations: one JSON string per line, readable only by the
 * file's owner.
 */
export class HistoryFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads the messages, oldest first. A missing or damaged file must not prevent the chat from starting. */
  async read(): Promise<string[]> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const lines = text.split("\n").filter(Boolean);
    if (lines.length > 2 * MAX_ENTRIES) {
      const kept = lines.slice(-MAX_ENTRIES);
      await writeFile(this.#path, `${kept.join("\n")}\n`, { mode: 0o600 }).catch(() => undefined);
    }
    return lines.slice(-MAX_ENTRIES).flatMap(parseEntry);
  }

  async add(message: string): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await appendFile(this.#path, `${JSON.stringify(message)}\n`, { mode: 0o600 });
    } catch {
      // A read-only home must not prevent the chat from working.
    }
  }
}

function parseEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" ? [entry] : [];
  } catch {
    return [];
  }
}
