import { DaemonError } from "../errors.ts";
import { type CliHome, type OpenRollout, unreadable } from "./cli-home.ts";
import type { ThreadLimits } from "./limits.ts";
import { readMeta, type RolloutMeta } from "./rollout-meta.ts";

/** A part of a thread's history: a byte range of the lines of one file. */
export interface ThreadSegment {
  readonly rollout: OpenRollout;
  readonly meta: RolloutMeta;
  /** Offset after the line that describes the file. */
  readonly from: number;
  readonly to: number;
}

/** The files of a thread's history. A fork or a revert continues another file from some offset. */
export class ThreadFiles implements AsyncDisposable {
  /** Oldest first. Codex appends to the last file. */
  readonly segments: readonly ThreadSegment[];
  readonly #opened: AsyncDisposableStack;

  private constructor(segments: readonly ThreadSegment[], opened: AsyncDisposableStack) {
    this.segments = segments;
    this.#opened = opened;
  }

  /** Rejects with `thread_not_found` or `thread_unreadable`. */
  static async open(home: CliHome, threadId: string, limits: ThreadLimits): Promise<ThreadFiles> {
    const names = await home.list();
    const newest = names.find((name) => name.threadId === threadId);
    if (!newest) throw threadNotFound(threadId);
    await using opened = new AsyncDisposableStack();
    const segments: ThreadSegment[] = [];
    let name: typeof newest | undefined = newest;
    let endByte = Number.POSITIVE_INFINITY;
    while (name) {
      if (segments.length === limits.lineageFiles) {
        throw unreadable(newest.path, `It continues more than ${limits.lineageFiles} files.`);
      }
      const rollout: OpenRollout = opened.use(await home.open(name));
      const meta = await readMeta(rollout, limits.lineBytes);
      if (Number.isFinite(endByte) && endByte > rollout.size) {
        throw unreadable(name.path, "It is shorter than the part that another file continues.");
      }
      segments.unshift({ rollout, meta, from: meta.end, to: Math.min(endByte, rollout.size) });
      const { base } = meta;
      if (!base) break;
      endByte = base.endByte;
      name = names.find(({ rolloutId }) => rolloutId === base.rolloutId);
      if (!name) throw unreadable(newest.path, `The file that it continues, ${base.rolloutId}, is missing.`);
    }
    return new ThreadFiles(segments, opened.move());
  }

  /** The file to which Codex appends. */
  get main(): ThreadSegment {
    const last = this.segments.at(-1);
    if (!last) throw new Error("A thread has at least one file.");
    return last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

export function threadNotFound(threadId: string): DaemonError {
  return new DaemonError("thread_not_found", `There is no thread ${threadId} in the Codex home.`);
}
