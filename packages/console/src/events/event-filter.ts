import type { SessionEvent } from "@codexkit/daemon/client";

/** A predicate for the events that the inspector lists. */
export type EventFilter = (event: SessionEvent) => boolean;

/**
 * Parses a filter. Words are combined with "and": `item.` matches types with this prefix, `-item.delta` excludes a type,
 * `100-200` and `100-` match sequence numbers, `turn:ID` and `item:ID` match IDs, and any other word matches text of the event.
 */
export function parseFilter(text: string): EventFilter {
  const tests = text.split(/\s+/).flatMap((word) => (word === "" ? [] : [parseWord(word)]));
  return (event) => tests.every((matches) => matches(event));
}

function parseWord(word: string): EventFilter {
  if (word.startsWith("-") && word.length > 1) {
    const excluded = parseWord(word.slice(1));
    return (event) => !excluded(event);
  }
  const range = /^(\d+)-(\d*)$/.exec(word) ?? /^#?(\d+)$/.exec(word);
  if (range) {
    const from = Number(range[1]);
    const to = range[2] === undefined ? from : range[2] === "" ? Number.POSITIVE_INFINITY : Number(range[2]);
    return ({ seq }) => seq >= from && seq <= to;
  }
  const id = /^(turn|item):(.+)$/.exec(word);
  if (id) return (event) => idOf(event, id[1] === "turn" ? "turnId" : "itemId") === id[2];
  if (/^[a-z]+\.[a-z]*$/.test(word)) return ({ type }) => type.startsWith(word);
  const searched = word.toLowerCase();
  return (event) => JSON.stringify(event).toLowerCase().includes(searched);
}

function idOf(event: SessionEvent, name: "turnId" | "itemId"): unknown {
  const fields = event as { readonly turnId?: unknown; readonly itemId?: unknown; readonly item?: unknown };
  if (name === "itemId" && typeof fields.item === "object" && fields.item !== null && "id" in fields.item) {
    return fields.item.id;
  }
  return fields[name];
}

/** Summarises an event in one line. */
export function summarizeEvent(event: SessionEvent): string {
  const {
    seq: _seq,
    epoch: _epoch,
    at: _at,
    type: _type,
    ...rest
  } = event as SessionEvent & Record<string, unknown>;
  const text = JSON.stringify(rest);
  return text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY)}…` : text;
}

const MAX_SUMMARY = 200;

/** Formats a command line that reads the event again. It does not contain the token. */
export function toCurl(origin: string, sessionId: string, { seq }: Pick<SessionEvent, "seq">): string {
  const url = `${origin}/sessions/${encodeURIComponent(sessionId)}/events?after=${seq - 1}&limit=1`;
  return `curl -H "Authorization: Bearer $CODEXKIT_TOKEN" '${url}'`;
}
