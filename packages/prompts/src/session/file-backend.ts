import { type OptionKeys, rejectUnknownOptions } from "codexkit";
import { rmSync } from "node:fs";
import { type FileHandle, open, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AsyncDisposableStack, SerialQueue } from "@codexkit/rpc/async";
import { z } from "zod";
import { checkValue, isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { hasOwnerEnded, writeOwner } from "../owner-file.ts";
import { PromptSession, type SessionBackend, type SessionChange, type SessionOptions } from "./session.ts";

const FILE_VERSION = 1;

const headerSchema = z.object({ version: z.number().int(), id: z.string() });
const changeSchema = z.union([
  z.object({ slice: z.string(), append: z.array(z.unknown()) }),
  z.object({ slice: z.string(), set: z.unknown() }),
]);

/**
 * Opens or creates a session that is stored in a file. The file is append-only: a header, then one change per line. A line that
 * was cut off by a crash is dropped. Only one session at a time, across all processes, can have the file open.
 * @throws {PromptError} `session_locked` if the file is already open, `invalid_snapshot` if it can't be read
 */
export async function openSession(
  path: string,
  options: Omit<SessionOptions, "id" | "stored" | "backend"> = {},
): Promise<PromptSession> {
  rejectUnknownOptions("openSession", options, KNOWN);
  checkValue("openSession: path", path ?? null, "the path of a file", isString);
  const real = await resolveFile(path);
  await using opened = new AsyncDisposableStack();
  const lock = opened.use(lockFile(real));
  const stored = await readSession(real);
  // Owner-only, because agents may read secrets.
  const file = await open(real, "a", 0o600);
  opened.defer(() => file.close());
  const id = stored?.id ?? crypto.randomUUID();
  await file.truncate(stored?.completeBytes ?? 0);
  const backend = new FileBackend(file, lock);
  if (!stored) backend.writeLine({ version: FILE_VERSION, id });
  const session = new PromptSession({ ...options, id, backend, ...(stored && { stored: stored.slices }) });
  opened.move();
  return session;
}

const KNOWN: OptionKeys<Omit<SessionOptions, "id" | "stored" | "backend">> = { slices: true, now: true };

/** Follows links, so that a file has a single lock for all its names. */
async function resolveFile(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isFile()) return real;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const folder = await realpath(dirname(path)).catch((cause: unknown) => {
      throw new PromptError("invalid_option", `The session's folder, ${dirname(path)}, can't be accessed.`, {
        cause,
      });
    });
    return join(folder, basename(path));
  }
  throw new PromptError("invalid_option", `${path} is not a file, so it can't store a session.`);
}

/** Locks the file, because two writers would mix their changes. Removes the lock of a process that has ended. */
function lockFile(path: string): Disposable {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeOwner(lock, "wx");
      return { [Symbol.dispose]: () => rmSync(lock, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (!hasOwnerEnded(lock)) break;
      rmSync(lock, { force: true });
    }
  }
  throw new PromptError(
    "session_locked",
    `${path} is open in another session. Close that session first, or remove ${lock} if no program uses it.`,
  );
}

class FileBackend implements SessionBackend {
  readonly #file: FileHandle;
  readonly #lock: Disposable;
  readonly #writes = new SerialQueue();
  #failure: { readonly cause: unknown } | undefined;
  #isClosed = false;

  constructor(file: FileHandle, lock: Disposable) {
    this.#file = file;
    this.#lock = lock;
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
    try {
      await this.#writes.run(() => this.#file.sync());
    } catch (cause) {
      this.#failure ??= { cause };
    }
    this.#checkStored();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.#writes.run(() => this.#file.close());
    } finally {
      this.#lock[Symbol.dispose]();
    }
    this.#checkStored();
  }

  #checkStored(): void {
    if (this.#failure) {
      throw new PromptError("invalid_snapshot", "The session could not be fully stored.", this.#failure);
    }
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
  if (completeBytes === 0) {
    checkUnfinishedHeader(path, bytes);
    return undefined;
  }
  const [headerLine = "", ...lines] = bytes.toString("utf8", 0, completeBytes - 1).split("\n");
  const header = parseLine(path, 1, headerLine, headerSchema);
  if (header.version < 1 || header.version > FILE_VERSION) {
    throw new PromptError(
      "invalid_snapshot",
      `${path} has version ${header.version}; this package reads versions 1 to ${FILE_VERSION}. Update @codexkit/prompts.`,
    );
  }
  const slices = new Map<string, unknown>();
  for (const [index, line] of lines.entries()) {
    const change = parseLine(path, index + 2, line, changeSchema);
    if (!("append" in change)) {
      slices.set(change.slice, change.set);
      continue;
    }
    const state = slices.get(change.slice) ?? [];
    if (!Array.isArray(state)) {
      throw new PromptError(
        "invalid_snapshot",
        `${path}:${index + 2} adds values to a slice that is not a list.`,
      );
    }
    for (const value of change.append) state.push(value);
    slices.set(change.slice, state);
  }
  return { id: header.id, slices: Object.fromEntries(slices), completeBytes };
}

/** Checks that an incomplete first line was written by a session, because opening the session will truncate it. */
function checkUnfinishedHeader(path: string, bytes: Buffer): void {
  const start = '{"version":';
  const text = bytes.toString("utf8", 0, start.length).replaceAll("\0", "");
  if (!start.startsWith(text)) throw new PromptError("invalid_snapshot", `${path} is not a session file.`);
}

function parseLine<Value>(path: string, line: number, text: string, schema: z.ZodType<Value>): Value {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new PromptError("invalid_snapshot", `${path}:${line} is not a valid line of a session file.`, {
      cause,
    });
  }
}
