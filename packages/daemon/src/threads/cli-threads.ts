import type {
  CliThread,
  CliThreadDetails,
  CliThreadItem,
  CliThreadItemPage,
  CliThreadPage,
  ThreadSource,
} from "../api/thread.ts";
import type { Database } from "../database.ts";
import { readCursor } from "../database/page.ts";
import { DaemonError } from "../errors.ts";
import { explainLock } from "../sessions/writer-lock.ts";
import { AllowedFolders } from "./allowed-folder.ts";
import { type CliHome, compare, type RolloutName, type SkippedFile } from "./cli-home.ts";
import type { ThreadLimits } from "./limits.ts";
import { mapLine } from "./map-line.ts";
import { costOf, readLinesBackward, type RolloutText } from "./rollout-lines.ts";
import { parseJson } from "./rollout-meta.ts";
import { HEAD_BYTES, readHead, searchText, type ThreadHead } from "./search-thread.ts";
import { ThreadFiles } from "./thread-files.ts";

/** Maximum number of files that one request examines. The next page continues after them. */
const FILES_PER_PAGE = 2000;
const MAX_SKIPPED = 20;
/** Maximum characters of the items on one page. */
const PAGE_CHARACTERS = 4 * 1024 * 1024;
/** Maximum number of additional items on a page while the turn that they belong to is still unknown. */
const MAX_OF_UNKNOWN_TURN = 1000;

export interface ThreadQuery {
  readonly search?: string | undefined;
  readonly cwd?: string | undefined;
  readonly source?: ThreadSource | undefined;
  readonly archived: boolean;
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

export interface CliThreadsOptions {
  readonly home: CliHome;
  readonly database: Database;
  /** Resolved folders. Threads in other folders are not served. */
  readonly roots: readonly string[];
  readonly limits: ThreadLimits;
}

/** Threads of the Codex CLI and of other programs that use the user's Codex home. */
export class CliThreads {
  readonly home: CliHome;
  readonly limits: ThreadLimits;
  readonly #database: Database;
  readonly #roots: readonly string[];

  constructor({ home, database, roots, limits }: CliThreadsOptions) {
    this.home = home;
    this.limits = limits;
    this.#database = database;
    this.#roots = roots;
  }

  /** Returns one page, newest first. Threads whose folder is outside the roots are left out. */
  async list({ search, cwd, source, archived, cursor, limit, signal }: ThreadQuery): Promise<CliThreadPage> {
    const skipped: SkippedFile[] = [];
    const skip = (file: SkippedFile): void => {
      if (skipped.length < MAX_SKIPPED) skipped.push(file);
    };
    const folders = new AllowedFolders(this.#roots);
    const threadNames = await this.home.threadNames();
    const candidates = newestFiles(await this.home.list(skip)).filter(
      (name) => name.isArchived === archived && isAfter(name, cursor),
    );
    const found: Omit<CliThread, "sessionId">[] = [];
    let looked = 0;
    let budget = this.limits.searchBytes;
    let headBudget = this.limits.searchBytes;
    let last: RolloutName | undefined;
    for (const name of candidates) {
      signal?.throwIfAborted();
      if (found.length === limit || looked === FILES_PER_PAGE || budget <= 0 || headBudget <= 0) break;
      last = name;
      looked += 1;
      try {
        const head = await readHead(this.home, name, this.limits);
        headBudget -= head.cost;
        if (!(await folders.includes(head.meta.cwd))) continue;
        if (cwd !== undefined && head.meta.cwd !== cwd) continue;
        if (source === undefined ? head.meta.source === "subAgent" : head.meta.source !== source) continue;
        const thread = toThread(head, threadNames);
        if (search === undefined) {
          found.push(thread);
          continue;
        }
        const result = await searchText(this.home, name, { thread, search, budget, limits: this.limits });
        budget -= result.cost;
        if (result.isCut) skip({ path: name.path, reason: "It is too large to be searched completely." });
        if (result.match !== undefined) found.push({ ...thread, match: result.match });
      } catch (error) {
        if (!DaemonError.is(error)) throw error;
        // It is unknown how much of it was read or decompressed.
        headBudget -= HEAD_BYTES;
        if (search !== undefined && name.isCompressed) budget = 0;
        skip({ path: name.path, reason: error.message });
      }
    }
    const isLast = last === undefined || last === candidates.at(-1);
    const sessions = await this.#sessionsOf(found.map(({ id }) => id));
    return {
      data: found.map((thread) => ({ ...thread, sessionId: sessions.get(thread.id) ?? null })),
      next: isLast || !last ? null : toCursor([last.time, last.rolloutId]),
      skipped,
    };
  }

  /** Rejects with `thread_not_found`, `thread_unreadable` or `path_not_allowed`. */
  async get(threadId: string): Promise<CliThreadDetails> {
    await using files = await this.open(threadId);
    const head = await readHead(this.home, files.main.rollout.name, this.limits);
    const sessions = await this.#sessionsOf([threadId]);
    return {
      ...toThread(head, await this.home.threadNames()),
      sessionId: sessions.get(threadId) ?? null,
      holder: (await explainLock(this.home.path, threadId)).holder,
    };
  }

  /** Opens the files of a thread whose folder is inside the roots. Rejects like `get`. */
  async open(threadId: string): Promise<ThreadFiles> {
    const files = await ThreadFiles.open(this.home, threadId, this.limits);
    const { cwd } = files.main.meta;
    if (await new AllowedFolders(this.#roots).includes(cwd)) return files;
    await files[Symbol.asyncDispose]();
    throw new DaemonError(
      "path_not_allowed",
      `The folder of the thread, "${cwd}", is outside the allowed roots: ${this.#roots.join(", ")}.`,
    );
  }

  /** Returns one page of a thread's items, newest first. */
  async items(
    threadId: string,
    { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<CliThreadItemPage> {
    await using files = await this.open(threadId);
    const page = new ItemPage(limit, this.limits.searchBytes);
    const [fromId, before] =
      cursor === undefined
        ? [files.main.rollout.name.rolloutId, undefined]
        : readCursor(cursor, "string", "number");
    const start = files.segments.findLastIndex(({ rollout }) => rollout.name.rolloutId === fromId);
    if (start < 0) throw new DaemonError("invalid_cursor", "The cursor was not returned for this thread.");
    for (const [index, segment] of files.segments
      .slice(0, start + 1)
      .toReversed()
      .entries()) {
      const { rollout, from, to } = segment;
      const end = index === 0 && before !== undefined ? Math.min(before, to) : to;
      const range = { from, to: end, maxLineBytes: this.limits.lineBytes };
      for await (const line of readLinesBackward(rollout.handle, range)) {
        page.add(line, threadId);
        if (page.isFull) return page.finish(toCursor([rollout.name.rolloutId, line.offset]));
      }
    }
    return page.finish(null);
  }

  async #sessionsOf(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (threadIds.length === 0) return new Map();
    const rows = await this.#database.store.db
      .selectFrom("session")
      .select(["id", "thread_id"])
      .where("thread_id", "in", [...threadIds])
      .where("phase", "<>", "deleted")
      .execute();
    return new Map(rows.map(({ id, thread_id: threadId }) => [threadId ?? "", id]));
  }
}

/** Collects items, newest first. In an old thread, an item belongs to the turn that starts before it. */
class ItemPage {
  readonly #limit: number;
  /** How much may be read for the page. If it is exceeded, the page has fewer items. */
  #budget: number;
  readonly #items: { turnId: string | null; at: number; item: CliThreadItem["item"] }[] = [];
  #skippedLines = 0;
  #characters = 0;
  #untilTurn = 0;

  constructor(limit: number, budget: number) {
    this.#limit = limit;
    this.#budget = budget;
  }

  get isFull(): boolean {
    const { length } = this.#items;
    if (this.#budget <= 0 || this.#characters > 2 * PAGE_CHARACTERS) return true;
    // Not every rollout of an old version says where its turns start.
    const isComplete = this.#untilTurn === length || length >= this.#limit + MAX_OF_UNKNOWN_TURN;
    return isComplete && (length >= this.#limit || this.#characters > PAGE_CHARACTERS);
  }

  add(line: RolloutText, threadId: string): void {
    this.#budget -= costOf(line);
    const value = parseJson(line.text);
    const event = mapLine(value, { threadId, offset: line.offset });
    if (event?.type === "turn.started") {
      for (const item of this.#items.slice(this.#untilTurn)) item.turnId = event.turnId;
      this.#untilTurn = this.#items.length;
    }
    if (value === undefined) this.#skippedLines += 1;
    if (event?.type !== "item.completed") return;
    const { turnId, at, item } = event;
    const characters = encodedLength(item);
    if (characters === undefined) {
      this.#skippedLines += 1;
      return;
    }
    const isKnown = turnId !== "";
    if (isKnown && this.#untilTurn === this.#items.length) this.#untilTurn += 1;
    this.#items.push({ turnId: isKnown ? turnId : null, at, item });
    this.#characters += characters;
  }

  finish(next: string | null): CliThreadItemPage {
    return { data: this.#items, next, skippedLines: this.#skippedLines };
  }
}

/** Returns undefined for a value that is nested so deeply that it can be parsed but not serialised. */
function encodedLength(value: unknown): number | undefined {
  try {
    return JSON.stringify(value).length;
  } catch {
    return undefined;
  }
}

/** A reverted thread continues in a newer file. */
function newestFiles(names: readonly RolloutName[]): readonly RolloutName[] {
  const seen = new Set<string>();
  return names.filter(({ threadId }) => !seen.has(threadId) && seen.add(threadId));
}

function isAfter(name: RolloutName, cursor: string | undefined): boolean {
  if (cursor === undefined) return true;
  const [time, rolloutId] = readCursor(cursor, "string", "string");
  return compare(name, { ...name, time, rolloutId }) < 0;
}

function toCursor(position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

function toThread(
  { name, meta, preview, updatedAt, bytes }: ThreadHead,
  threadNames: ReadonlyMap<string, string>,
): Omit<CliThread, "sessionId"> {
  return {
    id: meta.threadId,
    name: threadNames.get(meta.threadId) ?? null,
    preview,
    cwd: meta.cwd,
    source: meta.source,
    cliVersion: meta.cliVersion,
    branch: meta.branch,
    forkedFromId: meta.forkedFromId,
    createdAt: meta.createdAt ?? updatedAt,
    updatedAt,
    bytes,
    archived: name.isArchived,
  };
}
