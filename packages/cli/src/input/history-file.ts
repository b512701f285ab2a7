import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Messages that are kept. */
const MAX_ENTRIES = 1_000;

/** The messages that a person sent in earlier conversations: one JSON string per line, readable for its owner only. */
export class HistoryFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The messages, oldest first. A file that is missing or damaged is no reason not to start. */
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
      // A read-only home is no reason not to chat.
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
