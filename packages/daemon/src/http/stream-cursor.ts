import { z } from "zod";
import { identifier } from "../api/parameters.ts";
import { DaemonError } from "../errors.ts";

/**
 * Position of a client in the multiplexed stream: times of the newest summaries, and the newest event of each watched
 * session.
 */
export interface StreamCursor {
  readonly sessions: number;
  readonly inbox: number;
  readonly watched: Readonly<Record<string, number>>;
}

const position = z.int().nonnegative();
const stored = z.tuple([position, position, z.record(z.string(), position)]);

export function formatCursor({ sessions, inbox, watched }: StreamCursor): string {
  return Buffer.from(JSON.stringify([sessions, inbox, watched])).toString("base64url");
}

export function parseCursor(text: string | undefined): StreamCursor | undefined {
  if (text === undefined || text === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    value = undefined;
  }
  const parsed = stored.safeParse(value);
  if (!parsed.success) throw new DaemonError("invalid_cursor", "The cursor was not returned by this stream.");
  const [sessions, inbox, watched] = parsed.data;
  return { sessions, inbox, watched };
}

/** Parses `id,id:after`. Undefined means from now on, or after the cursor. */
export function parseWatch(text: string | undefined, limit: number): ReadonlyMap<string, number | undefined> {
  const watch = new Map<string, number | undefined>();
  for (const entry of text === undefined || text === "" ? [] : text.split(",")) {
    const [, id, after] = /^([^:]+)(?::(\d{1,15}))?$/.exec(entry) ?? [];
    if (!identifier.safeParse(id).success || id === undefined) {
      throw new DaemonError("bad_request", `watch: "${entry}" is neither "id" nor "id:after".`);
    }
    watch.set(id, after === undefined ? undefined : Number(after));
  }
  if (watch.size > limit) {
    throw new DaemonError(
      "bad_request",
      `watch: ${watch.size} sessions were passed, but at most ${limit} are allowed.`,
    );
  }
  return watch;
}
