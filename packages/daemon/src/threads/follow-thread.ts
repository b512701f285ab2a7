import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ThreadFrame } from "../api/thread.ts";
import { DaemonError } from "../errors.ts";
import { explainLock } from "../sessions/writer-lock.ts";
import type { CliThreads } from "./cli-threads.ts";
import { mapLine } from "./map-line.ts";
import { readLines } from "./rollout-lines.ts";
import { parseJson } from "./rollout-meta.ts";
import type { ThreadFiles, ThreadSegment } from "./thread-files.ts";

/** Number of polls between two searches for a newer file of the thread, which a revert creates. */
const POLLS_PER_SEARCH = 8;

/** A message of the stream, with the cursor after it. */
export interface FollowedFrame {
  readonly cursor: string;
  readonly frame: ThreadFrame;
}

export interface FollowOptions {
  /** Cursor of the last frame that the client has received. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

type Restart = (ThreadFrame & { type: "restarted" })["reason"];

/**
 * Yields the history of a thread, and then what another program appends to it. Only reads, so the writer's lock does
 * not matter. Ends when the file no longer exists. Rejects with `thread_not_found`, `thread_unreadable`,
 * `path_not_allowed` or `invalid_cursor` before the first frame.
 */
export async function* followThread(
  threads: CliThreads,
  threadId: string,
  { after, signal }: FollowOptions,
): AsyncGenerator<FollowedFrame> {
  let position = after === undefined ? undefined : parseCursor(after);
  let restart: Restart | undefined;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    let files: ThreadFiles;
    try {
      files = await threads.open(threadId);
    } catch (error) {
      if (isFirst || !DaemonError.is(error)) throw error;
      yield { cursor: "", frame: { type: "ended" } };
      return;
    }
    await using opened = files;
    const follower = new Follower(threads, opened, signal);
    if (position && !follower.has(position)) {
      restart = "reverted";
      position = undefined;
    }
    if (restart) yield { cursor: "", frame: { type: "restarted", reason: restart } };
    restart = yield* follower.run(position);
    position = undefined;
    if (!restart) return;
  }
}

interface Position {
  readonly rolloutId: string;
  readonly offset: number;
}

/** Reads the files of a thread until they are replaced. */
class Follower {
  readonly #threads: CliThreads;
  readonly #files: ThreadFiles;
  readonly #signal: AbortSignal;

  constructor(threads: CliThreads, files: ThreadFiles, signal: AbortSignal) {
    this.#threads = threads;
    this.#files = files;
    this.#signal = signal;
  }

  has({ rolloutId, offset }: Position): boolean {
    return this.#files.segments.some(
      ({ rollout, to }) => rollout.name.rolloutId === rolloutId && offset <= to,
    );
  }

  /** Returns the reason why the thread must be read again, or undefined at the end. */
  async *run(position: Position | undefined): AsyncGenerator<FollowedFrame, Restart | undefined> {
    const { segments, main } = this.#files;
    const first = position
      ? segments.findIndex(({ rollout }) => rollout.name.rolloutId === position.rolloutId)
      : 0;
    let offset = main.from;
    for (const [index, segment] of segments.slice(first).entries()) {
      const from = index === 0 && position ? Math.max(position.offset, segment.from) : segment.from;
      offset = yield* this.#read(segment, from, segment.to);
    }
    yield this.#frame(main, offset, await this.#following());
    for (let polls = 1; !this.#signal.aborted; polls += 1) {
      await delay(this.#threads.limits.pollMs, undefined, { signal: this.#signal }).catch(() => {});
      if (this.#signal.aborted) return undefined;
      const change = await this.#checkFile(polls % POLLS_PER_SEARCH === 0);
      if (change === "gone") {
        yield this.#frame(main, offset, { type: "ended" });
        return undefined;
      }
      if (change !== undefined) return change;
      const { size } = await main.rollout.handle.stat();
      if (size < offset) return "truncated";
      if (size > this.#threads.limits.fileBytes) {
        yield this.#frame(main, offset, { type: "ended" });
        return undefined;
      }
      offset = yield* this.#read(main, offset, size);
      // A long line without an end must not be read repeatedly. Its remainder is skipped like an invalid line.
      if (size - offset > this.#threads.limits.lineBytes) offset = size;
    }
    return undefined;
  }

  async #following(): Promise<ThreadFrame> {
    const { threadId } = this.#files.main.meta;
    const { holder } = await explainLock(this.#threads.home.path, threadId);
    return { type: "following", threadId, isLocked: holder !== null };
  }

  /** Yields the events of complete lines. Returns the offset of the next line. */
  async *#read(segment: ThreadSegment, from: number, to: number): AsyncGenerator<FollowedFrame, number> {
    const { threadId } = this.#files.main.meta;
    let next = from;
    let skipped = 0;
    const range = { from, to, maxLineBytes: this.#threads.limits.lineBytes };
    for await (const { offset, end, text } of readLines(segment.rollout.handle, range)) {
      if (this.#signal.aborted) return next;
      next = end;
      const value = parseJson(text);
      if (value === undefined) skipped += 1;
      const event = mapLine(value, { threadId, offset });
      if (event) yield this.#frame(segment, end, event);
    }
    if (skipped > 0) yield this.#frame(segment, next, { type: "skipped", lines: skipped });
    return next;
  }

  /** Checks whether the file has changed since it was opened. */
  async #checkFile(mayBeReverted: boolean): Promise<Restart | "gone" | undefined> {
    const { rollout, meta } = this.#files.main;
    const { home } = this.#threads;
    const { name, inode } = rollout;
    if (mayBeReverted) {
      const [newest] = await home.recentFilesOf(meta.threadId);
      if (!newest) return "gone";
      if (newest.rolloutId !== name.rolloutId) return "reverted";
      // An archived thread is the same file at a different path.
      if (newest.path !== name.path || newest.isCompressed !== name.isCompressed) {
        return newest.isCompressed ? "gone" : undefined;
      }
    }
    const path = join(home.path, name.isCompressed ? `${name.path}.zst` : name.path);
    const stats = await lstat(path).catch(() => undefined);
    if (stats && stats.ino !== inode) return "replaced";
    return undefined;
  }

  #frame({ rollout }: ThreadSegment, offset: number, frame: ThreadFrame): FollowedFrame {
    return { cursor: `${rollout.name.rolloutId}:${offset}`, frame };
  }
}

function parseCursor(cursor: string): Position {
  const match = /^([\w-]{36,128}):(\d{1,15})$/.exec(cursor);
  if (!match) throw new DaemonError("invalid_cursor", "The cursor was not sent by this stream.");
  return { rolloutId: match[1] ?? "", offset: Number(match[2]) };
}
