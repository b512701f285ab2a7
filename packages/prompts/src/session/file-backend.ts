import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { SerialQueue } from "@codexkit/rpc/async";
import { z } from "zod";
import { PromptError } from "../errors.ts";
import { Session, type SessionBackend, type SessionChange, type SessionOptions } from "./session.ts";

const FILE_VERSION = 1;

const headerSchema = z.object({ version: z.number().int(), id: z.string() });
const changeSchema = z.union([
  z.object({ slice: z.string(), append: z.array(z.unknown()) }),
  z.object({ slice: z.string(), set: z.unknown() }),
]);

/**
 * Opens a session that is stored in a file, or creates one. The file is append-only: a header, then a change per line. A
 * line that was cut off by a crash is dropped.
 */
export async function openSession(
  path: string,
  options: Omit<SessionOptions, "id" | "stored" | "backend"> = {},
): Promise<Session> {
  const stored = await readSession(path);
  const file = await open(path, "a");
  const id = stored?.id ?? crypto.randomUUID();
  if (stored) await truncate(path, stored.completeBytes);
  const backend = new FileBackend(file);
  if (!stored) backend.writeLine({ version: FILE_VERSION, id });
  return new Session({ ...options, id, backend, ...(stored && { stored: stored.slices }) });
}

class FileBackend implements SessionBackend {
  readonly #file: FileHandle;
  readonly #writes = new SerialQueue();
  #failure: { readonly cause: unknown } | undefined;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  append(change: SessionChange): void {
    this.writeLine(change);
  }

  writeLine(value: unknown): void {
    const line = `${JSON.stringify(value)}\n`;
    void this.#writes
      .run(() => this.#file.appendFile(line))
      .catch((cause: unknown) => {
        this.#failure ??= { cause };
      });
  }

  async flush(): Promise<void> {
    await this.#writes.run(() => this.#file.sync());
    if (this.#failure) {
      throw new PromptError("invalid_snapshot", "The session could not be stored completely.", this.#failure);
    }
  }

  async close(): Promise<void> {
    await this.#writes.run(() => this.#file.close());
  }
}

interface StoredSession {
  readonly id: string;
  readonly slices: Readonly<Record<string, unknown>>;
  /** Length of the complete lines. */
  readonly completeBytes: number;
}

async function readSession(path: string): Promise<StoredSession | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  const completeBytes = bytes.lastIndexOf("\n") + 1;
  if (completeBytes === 0) return undefined;
  const [headerLine = "", ...lines] = bytes.toString("utf8", 0, completeBytes - 1).split("\n");
  const header = parseLine(path, 1, headerLine, headerSchema);
  if (header.version > FILE_VERSION) {
    throw new PromptError(
      "invalid_snapshot",
      `${path} has version ${header.version}; this package reads up to ${FILE_VERSION}. Update @codexkit/prompts.`,
    );
  }
  const slices: Record<string, unknown> = {};
  for (const [index, line] of lines.entries()) {
    applyChange(slices, parseLine(path, index + 2, line, changeSchema));
  }
  return { id: header.id, slices, completeBytes };
}

function applyChange(slices: Record<string, unknown>, change: z.output<typeof changeSchema>): void {
  if (!("append" in change)) {
    slices[change.slice] = change.set;
    return;
  }
  const state = (slices[change.slice] ??= []);
  if (Array.isArray(state)) for (const value of change.append) state.push(value);
}

function parseLine<Value>(path: string, line: number, text: string, schema: z.ZodType<Value>): Value {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new PromptError("invalid_snapshot", `${path}:${line} is not a line of a session.`, { cause });
  }
}
