import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, relative } from "node:path";
import { DaemonError } from "../errors.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";

/** Maximum bytes per transaction. The rest is stored with the next event. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Number of bytes that are searched for the first line of a file, which describes it. */
const HEADER_BYTES = 256 * 1024;

interface RolloutState {
  readonly rolloutId: string;
  readonly path: string;
  readonly role: "main" | "agent";
  /** ID of the file that this one continues. Null if there is none, undefined until the first line was read. */
  baseId: string | null | undefined;
  /** Number of bytes handed to the store. */
  sentBytes: number;
  /** Whether the file exceeds the limit of the store, which stores no more of it. */
  isTooLarge: boolean;
}

/**
 * Copies Codex's rollout files to the store, in the transactions of the corresponding events. Codex only appends to them, so each
 * transaction stores the new lines.
 */
export class RolloutShipper {
  readonly #store: RolloutStore;
  readonly #owner: Ownership;
  readonly #codexHome: string;
  /** By thread ID. */
  readonly #files = new Map<string, RolloutState>();

  constructor(store: RolloutStore, owner: Ownership, codexHome: string) {
    this.#store = store;
    this.#owner = owner;
    this.#codexHome = codexHome;
  }

  /** Follows the file of a thread. A revert continues a thread in another file. */
  async follow(threadId: string, path: string, role: "main" | "agent"): Promise<void> {
    if (this.#files.get(threadId)?.path === path) return;
    const rolloutId = rolloutIdOf(path);
    const sentBytes = await this.#store.storedBytes(rolloutId);
    this.#files.set(threadId, { rolloutId, path, role, baseId: undefined, sentBytes, isTooLarge: false });
  }

  isFollowing(threadId: string): boolean {
    return this.#files.has(threadId);
  }

  /** Continues each file where the stored one ends, in case a write failed or the store has lost some of it. */
  async resume(): Promise<void> {
    for (const file of this.#files.values()) file.sentBytes = await this.#store.storedBytes(file.rolloutId);
  }

  /** Forgets all files, after they were replaced. */
  forget(): void {
    this.#files.clear();
  }

  /** Reads the whole file of a thread. Undefined if it does not exist. */
  async contents(threadId: string): Promise<Uint8Array | undefined> {
    const file = this.#files.get(threadId);
    return file && readFile(file.path).catch(() => undefined);
  }

  /** Returns the length of the thread's file. Undefined if it does not exist. */
  bytes(threadId: string): number | undefined {
    const file = this.#files.get(threadId);
    if (!file) return undefined;
    return withFile(file.path, (descriptor) => fstatSync(descriptor).size);
  }

  /** Like `collect`, for all new lines of all files, however many there are. */
  collectAll(): { readonly also?: (trx: DaemonTransaction) => Promise<void> } {
    const steps: ((trx: DaemonTransaction) => Promise<void>)[] = [];
    for (const threadId of this.#files.keys()) {
      for (let step = this.collect(threadId); step; step = this.collect(threadId)) steps.push(step);
    }
    if (steps.length === 0) return {};
    return {
      also: async (trx) => {
        for (const step of steps) await step(trx);
      },
    };
  }

  /**
   * Returns a step like `collectAll`, which rejects unless the store then has the whole files. Without them, Codex must not delete
   * its own.
   */
  collectWhole(): (trx: DaemonTransaction) => Promise<void> {
    const { also } = this.collectAll();
    const lengths = new Map(
      [...this.#files.values()].map(({ rolloutId, sentBytes }) => [rolloutId, sentBytes]),
    );
    return async (trx) => {
      await also?.(trx);
      await this.#store.requireWhole(this.#owner.sessionId, lengths, trx);
    };
  }

  /** Returns a step for the next transaction that stores the new lines of the thread's file. Undefined if there are none. */
  collect(threadId: string): ((trx: DaemonTransaction) => Promise<void>) | undefined {
    const file = this.#files.get(threadId);
    if (!file || file.isTooLarge) return undefined;
    const data = withFile(file.path, (descriptor) => {
      if (file.baseId === undefined) file.baseId = readBaseId(descriptor);
      return readLines(descriptor, file.sentBytes);
    });
    if (!data || data.length === 0) return undefined;
    const { rolloutId, role, baseId } = file;
    const chunk = {
      rolloutId,
      path: relative(this.#codexHome, file.path),
      ...(typeof baseId === "string" ? { baseId } : {}),
      role,
      atByte: file.sentBytes,
      data,
    };
    file.sentBytes += data.length;
    return async (trx) => {
      try {
        file.isTooLarge = (await this.#store.append(trx, this.#owner, chunk)) === "too_large";
      } catch (error) {
        // The events must not fail because of it. The file is sent again, and the store skips the bytes that it already has.
        if (!DaemonError.is(error) || error.code !== "rollout_mismatch") throw error;
        file.sentBytes = 0;
      }
    };
  }
}

/** `rollout-2026-11-16T09-14-42-<thread>.jsonl` or `…-<thread>_<segment>.jsonl` → what follows the time. */
function rolloutIdOf(path: string): string {
  return basename(path)
    .replace(/^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/, "")
    .replace(/\.jsonl$/, "");
}

function withFile<Value>(path: string, use: (descriptor: number) => Value): Value | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    // The file does not exist yet: Codex creates it with the first message.
    return undefined;
  }
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads the new bytes through the last complete line. */
function readLines(descriptor: number, from: number): Uint8Array {
  const size = Math.min(fstatSync(descriptor).size - from, CHUNK_BYTES);
  if (size <= 0) return new Uint8Array();
  const buffer = Buffer.allocUnsafe(size);
  const read = readSync(descriptor, buffer, 0, size, from);
  const end = buffer.subarray(0, read).lastIndexOf(0x0a) + 1;
  // A line longer than a chunk is sent in parts.
  return buffer.subarray(0, end === 0 && size === CHUNK_BYTES ? read : end);
}

/** Reads from the first line which file a fork or a revert continues. */
function readBaseId(descriptor: number): string | null | undefined {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES);
  const text = buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, HEADER_BYTES, 0));
  if (!text.includes("\n")) return text.length < HEADER_BYTES ? undefined : null;
  try {
    const { payload } = JSON.parse(text.slice(0, text.indexOf("\n"))) as {
      payload?: { history_base?: { thread_id?: string } | null };
    };
    return payload?.history_base?.thread_id ?? null;
  } catch {
    return null;
  }
}
