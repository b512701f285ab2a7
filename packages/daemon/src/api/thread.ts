import type { v2 } from "codexkit";
import { z } from "zod";
import type { StoredTurnResult } from "./event.ts";
import { timestamp } from "./parameters.ts";
import type { Problem } from "./problem.ts";

export const threadSource = z
  .enum(["cli", "vscode", "exec", "appServer", "subAgent", "unknown"])
  .meta({ id: "ThreadSource", description: "The program that started the thread." });
export type ThreadSource = z.infer<typeof threadSource>;

/** A thread in the user's Codex home. */
export const cliThread = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    preview: z.string().meta({ description: "Beginning of the first message." }),
    cwd: z.string(),
    source: threadSource,
    cliVersion: z.string().nullable(),
    branch: z
      .string()
      .nullable()
      .meta({ description: "Git branch of the folder when the thread was started." }),
    forkedFromId: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp.meta({ description: "Time when its file was last written." }),
    bytes: z.int().meta({ description: "Size of its newest file." }),
    archived: z.boolean(),
    sessionId: z.string().nullable().meta({ description: "ID of the session, if the thread was imported." }),
    match: z.string().optional().meta({ description: "The text around the match." }),
  })
  .meta({ id: "CliThread" });
export type CliThread = z.infer<typeof cliThread>;

export const skippedFile = z
  .object({ path: z.string(), reason: z.string() })
  .meta({ id: "SkippedFile", description: "A file of the Codex home that can't be used." });

export const cliThreadPage = z
  .object({
    data: z.array(cliThread),
    next: z.string().nullable().meta({
      description:
        "Cursor of the next page. Null on the last page. During a search, a page can be empty although there is a next page.",
    }),
    skipped: z.array(skippedFile).meta({ description: "At most 20 files that can't be used." }),
  })
  .meta({ id: "CliThreadPage" });
export type CliThreadPage = z.infer<typeof cliThreadPage>;

export const cliThreadDetails = cliThread
  .extend({
    holder: z
      .object({ pid: z.int(), command: z.string() })
      .nullable()
      .meta({ description: "The program that has the thread open. Only known on Linux." }),
  })
  .meta({ id: "CliThreadDetails" });
export type CliThreadDetails = z.infer<typeof cliThreadDetails>;

export const cliThreadItem = z
  .object({
    turnId: z.string().nullable().meta({ description: "Null if an old rollout does not have it." }),
    at: timestamp,
    item: z.record(z.string(), z.unknown()).meta({ description: "Codex's item." }),
  })
  .meta({ id: "CliThreadItem" });
export type CliThreadItem = z.infer<typeof cliThreadItem>;

export const cliThreadItemPage = z
  .object({
    data: z.array(cliThreadItem),
    next: z.string().nullable(),
    skippedLines: z.int().meta({ description: "Number of lines that are too long or not JSON." }),
  })
  .meta({ id: "CliThreadItemPage" });
export type CliThreadItemPage = z.infer<typeof cliThreadItemPage>;

/** An event of a turn, read from a rollout file. There are no deltas, because Codex writes an item when it is complete. */
export type ThreadEvent = { readonly threadId: string; readonly turnId: string; readonly at: number } & (
  | { readonly type: "turn.started" }
  | { readonly type: "item.completed"; readonly item: v2.ThreadItem }
  | { readonly type: "turn.completed" | "turn.interrupted"; readonly result: StoredTurnResult }
  | { readonly type: "turn.failed"; readonly result: StoredTurnResult; readonly problem: Problem }
);

/** A message of the stream that follows a thread. */
export type ThreadFrame =
  | ThreadEvent
  /**
   * All later events are new. Sent after the existing history, and again when the thread was read again from the
   * beginning.
   */
  | { readonly type: "following"; readonly threadId: string; readonly isLocked: boolean }
  /** The thread is read again from the beginning. The client must discard its copy. */
  | { readonly type: "restarted"; readonly reason: "truncated" | "replaced" | "reverted" }
  /** Lines were skipped because they are too long or not JSON. */
  | { readonly type: "skipped"; readonly lines: number }
  /** The file no longer exists, because it was deleted or compressed. */
  | { readonly type: "ended" };

export const threadFrame = z
  .looseObject({
    type: z.string().meta({
      description:
        "turn.started, item.completed, turn.completed, turn.failed, turn.interrupted as in a session; following, restarted, skipped, ended.",
    }),
  })
  .meta({ id: "ThreadFrame" }) as unknown as z.ZodType<ThreadFrame>;
