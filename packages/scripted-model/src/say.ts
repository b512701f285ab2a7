import type { MessagePhase, Piece, SayPart, ThinkPart } from "./part.ts";

/** How a text is split into deltas. */
export interface StreamOptions {
  /** Characters per delta. Default: one delta per string. */
  readonly chunkSize?: number;
  /** Milliseconds between deltas. */
  readonly everyMs?: number;
}

export interface SayOptions extends StreamOptions {
  /** `"commentary"` for progress, `"final_answer"` for the answer. Omit it for models without phases. */
  readonly phase?: MessagePhase;
  /** Overrides the generated `msg_N`. */
  readonly id?: string;
  /** False sends the completed message without deltas. */
  readonly stream?: boolean;
}

/**
 * An assistant message. A list sends each string as one delta, with waits, pauses and cuts between them.
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
  /** The raw reasoning, which Codex reports separately from the summary. */
  readonly raw?: string;
  /** Overrides the generated `rs_N`. */
  readonly id?: string;
}

/** A reasoning item. Its summary is streamed like a message. */
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

/** Splits by code points, so that no delta contains half a surrogate pair. */
function chunks(text: string, size: number): string[] {
  const step = Math.max(1, Math.floor(size));
  const points = Array.from(text);
  const out: string[] = [];
  for (let at = 0; at < points.length; at += step) out.push(points.slice(at, at + step).join(""));
  return out;
}
