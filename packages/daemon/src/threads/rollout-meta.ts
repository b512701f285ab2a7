import { z } from "zod";
import { threadSource, type ThreadSource } from "../api/thread.ts";
import type { OpenRollout } from "./cli-home.ts";
import { unreadable } from "./cli-home.ts";
import { readLines } from "./rollout-lines.ts";

const id = z.string().regex(/^[\w-]{1,128}$/);

/** The first line of a rollout. Codex writes more fields, and other versions may write fewer. */
const sessionMeta = z.looseObject({
  timestamp: z.string().max(64).optional(),
  type: z.literal("session_meta"),
  payload: z.looseObject({
    id,
    timestamp: z.string().max(64).optional(),
    cwd: z.string().min(1).max(4096),
    cli_version: z.string().max(64).optional(),
    originator: z.string().max(256).optional(),
    source: z.unknown(),
    history_mode: z.string().max(64).optional(),
    forked_from_id: id.nullish(),
    history_base: z.looseObject({ thread_id: id, end_byte_offset: z.int().nonnegative() }).nullish(),
    git: z.looseObject({ branch: z.string().max(1024).nullish() }).nullish(),
  }),
});

export interface RolloutMeta {
  readonly threadId: string;
  readonly cwd: string;
  readonly source: ThreadSource;
  readonly cliVersion: string | null;
  readonly createdAt: number | null;
  readonly forkedFromId: string | null;
  readonly branch: string | null;
  /** The file that this one continues, up to a byte offset. */
  readonly base: { readonly rolloutId: string; readonly endByte: number } | null;
  /** Offset at which the second line starts. */
  readonly end: number;
  /** The parsed line. */
  readonly line: z.infer<typeof sessionMeta>;
}

/** Reads the first line, which describes the file. Rejects with `thread_unreadable`. */
export async function readMeta(rollout: OpenRollout, maxLineBytes: number): Promise<RolloutMeta> {
  const { handle, size, name } = rollout;
  for await (const { text, end } of readLines(handle, { from: 0, to: size, maxLineBytes })) {
    const parsed = sessionMeta.safeParse(parseJson(text));
    if (!parsed.success) throw unreadable(name.path, "Its first line does not describe a thread.");
    const { payload } = parsed.data;
    if (payload.id !== name.threadId) {
      throw unreadable(name.path, "Its first line has a different thread ID than the file name.");
    }
    return {
      threadId: payload.id,
      cwd: payload.cwd,
      source: toSource(payload.source),
      cliVersion: payload.cli_version ?? null,
      createdAt: toTime(payload.timestamp),
      forkedFromId: payload.forked_from_id ?? null,
      branch: payload.git?.branch ?? null,
      base: payload.history_base
        ? { rolloutId: payload.history_base.thread_id, endByte: payload.history_base.end_byte_offset }
        : null,
      end,
      line: parsed.data,
    };
  }
  throw unreadable(name.path, "It has no complete line.");
}

export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function toTime(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}

/** Parses `cli`, `vscode`, `exec` and `mcp`. The source of an agent is an object. */
function toSource(source: unknown): ThreadSource {
  if (typeof source === "object" && source !== null) return "subAgent";
  const known = threadSource.safeParse(source === "mcp" ? "appServer" : source);
  return known.success ? known.data : "unknown";
}
