import type { MessagePhase, Piece, SayPart, ThinkPart } from "./part.ts";

/** How a text is cut into deltas. */
export interface StreamOptions {
  /** Characters in one delta; without it a string is one delta. */
  readonly chunkSize?: number;
  /** Milliseconds between two deltas: a slow stream. */
  readonly everyMs?: number;
}

export interface SayOptions extends StreamOptions {
  /** `"commentary"` while working, `"final_answer"` for the answer; models that have no phases send none. */
  readonly phase?: MessagePhase;
  /** Overrides the generated `msg_N`. */
  readonly id?: string;
  /** False sends the finished message without deltas. */
  readonly stream?: boolean;
}

/**
 * An assistant message. A list sends each string as one delta and lets waits, pauses and cuts happen between them.
 *
 * @example say(["Hel", waitFor(seen), "lo"])
 */
export function say(text: string | readonly Piece[], options: SayOptions = {}): SayPart {
  const { phase, id, stream = true } = options;
  return {
    kind: "say",
    pieces: toPieces(text, options),
    stream,
    ...(phase !== undefined && { phase }),
    ...(id !== undefined && { id }),
  };
}

export interface ThinkOptions extends StreamOptions {
  /** The raw reasoning, where a model shows it; Codex reports it apart from the summary. */
  readonly raw?: string;
  /** Overrides the generated `rs_N`. */
  readonly id?: string;
}

/** Reasoning, with a summary that is streamed like a message. */
export function think(summary: string | readonly Piece[], options: ThinkOptions = {}): ThinkPart {
  const { raw, id } = options;
  return {
    kind: "think",
    pieces: toPieces(summary, options),
    ...(raw !== undefined && { raw }),
    ...(id !== undefined && { id }),
  };
}

function toPieces(text: string | readonly Piece[], { chunkSize, everyMs }: StreamOptions): readonly Piece[] {
  const given = typeof text === "string" ? [text] : text;
  const cut =
    chunkSize === undefined
      ? given
      : given.flatMap<Piece>((piece) => (typeof piece === "string" ? chunks(piece, chunkSize) : [piece]));
  if (everyMs === undefined) return cut;
  return cut.flatMap<Piece>((piece, at) => (at === 0 ? [piece] : [{ kind: "pause", ms: everyMs }, piece]));
}

/** Cuts by code points, so that no delta holds half a character. */
function chunks(text: string, size: number): string[] {
  const step = Math.max(1, Math.floor(size));
  const points = Array.from(text);
  const out: string[] = [];
  for (let at = 0; at < points.length; at += step) out.push(points.slice(at, at + step).join(""));
  return out;
}
