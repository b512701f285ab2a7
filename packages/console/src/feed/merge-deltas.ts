import type { SessionEvent, StreamFrame } from "@codexkit/daemon/client";

type EventFrame = Extract<StreamFrame, { readonly type: "event" }>;
/** Longer deltas are not merged further, so that the page can apply a part of a long text in each of its frames. */
const LONGEST_MERGED = 1_024;

type Delta = Extract<SessionEvent, { readonly type: "item.delta" }>;

/**
 * Merges consecutive deltas of the same text, so that the page handles one per frame of the screen instead of hundreds. The
 * merged delta has the offset of the first one and the `seq` of the last one.
 */
export function mergeDeltas(frames: readonly StreamFrame[]): StreamFrame[] {
  const merged: StreamFrame[] = [];
  let parts: string[] = [];
  let open: { readonly frame: EventFrame; readonly first: Delta; end: number } | undefined;
  const close = (): void => {
    if (open && parts.length > 1) {
      const { frame, first } = open;
      const last = frame.event as Delta;
      merged[merged.length - 1] = {
        ...frame,
        event: { ...last, ...keepFlags(first), offset: first.offset, delta: parts.join("") },
      };
    }
    open = undefined;
    parts = [];
  };
  for (const frame of frames) {
    const delta = frame.type === "event" && frame.event.type === "item.delta" ? frame.event : undefined;
    if (frame.type !== "event" || !delta) {
      close();
      merged.push(frame);
      continue;
    }
    if (open && continues(open, frame.sessionId, delta)) {
      parts.push(delta.delta);
      open = {
        frame: { ...frame, event: { ...delta, ...keepFlags(open.frame.event as Delta) } },
        first: open.first,
        end: delta.offset + delta.delta.length,
      };
      continue;
    }
    close();
    merged.push(frame);
    open = { frame, first: delta, end: delta.offset + delta.delta.length };
    parts = [delta.delta];
  }
  close();
  return merged;
}

function continues(
  open: { readonly frame: EventFrame; readonly first: Delta; readonly end: number },
  sessionId: string,
  delta: Delta,
): boolean {
  return (
    open.frame.sessionId === sessionId &&
    open.first.itemId === delta.itemId &&
    open.first.turnId === delta.turnId &&
    open.first.kind === delta.kind &&
    open.first.index === delta.index &&
    open.end === delta.offset &&
    open.end - open.first.offset < LONGEST_MERGED &&
    delta.omitted === undefined
  );
}

/** A merged or recovered part makes the whole delta merged or recovered. */
function keepFlags({ merged, recovered, omitted }: Delta): Partial<Delta> {
  return {
    ...(merged && { merged }),
    ...(recovered && { recovered }),
    ...(omitted !== undefined && { omitted }),
  };
}
