import type { Item, SessionEvent } from "@codexkit/daemon/client";
import type { ThreadItem } from "./types.ts";

type Delta = Extract<SessionEvent, { readonly type: "item.delta" }>;

/** The text of the deltas so far. */
interface DeltaText {
  readonly kind: Delta["kind"];
  readonly index: number;
  text: string;
  /** Length of the whole text, of which `text` may be a part. */
  length: number;
}

/** The state of an item in the projection. Mutable: one delta changes one string. */
export interface ItemRecord {
  readonly key: string;
  readonly id: string;
  readonly threadId: string;
  readonly turnId: string;
  kind: ThreadItem["type"];
  firstSeq: number;
  lastSeq: number;
  status: Item["status"];
  item: ThreadItem;
  truncated: Readonly<Record<string, number>>;
  texts: DeltaText[];
  wasMerged: boolean;
  wasRecovered: boolean;
}

/** The page keeps only the beginning and the end of longer texts. The daemon has the whole text. */
const LONGEST_TEXT = 262_144;
const HEAD = 2_048;
const TAIL = 4_096;
/** The end of a running command's output that is kept when it becomes too long. Half, so that it is cut rarely. */
const RUNNING_TAIL = LONGEST_TEXT / 2;

export function itemKey(turnId: string, itemId: string): string {
  return `${turnId}/${itemId}`;
}

/** The state of an item from the history. */
export function fromHistory(row: Item): ItemRecord {
  const { streamed, truncated, ...item } = row.item as Record<string, unknown> & {
    readonly streamed?: { kind: Delta["kind"]; index?: number; text: string; length: number };
    readonly truncated?: Readonly<Record<string, number>>;
  };
  return {
    key: itemKey(row.turnId, row.id),
    id: row.id,
    threadId: row.threadId,
    turnId: row.turnId,
    kind: row.kind as ThreadItem["type"],
    firstSeq: row.firstSeq,
    lastSeq: row.lastSeq,
    status: row.status,
    item: item as unknown as ThreadItem,
    truncated: truncated ?? {},
    texts: streamed
      ? [{ kind: streamed.kind, index: streamed.index ?? 0, text: streamed.text, length: streamed.length }]
      : [],
    wasMerged: false,
    wasRecovered: false,
  };
}

/** Truncates the long texts of an item. */
export function cutItem(item: ThreadItem): Pick<ItemRecord, "item" | "truncated"> {
  const truncated: Record<string, number> = {};
  const cut = (value: unknown, path: string): unknown => {
    if (typeof value === "string") {
      if (value.length <= LONGEST_TEXT) return value;
      truncated[path] = value.length;
      return `${value.slice(0, HEAD)}…${value.slice(-TAIL)}`.toWellFormed();
    }
    if (Array.isArray(value)) return value.map((entry, index) => cut(entry, `${path}/${index}`));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [name, cut(entry, `${path}/${escapePointer(name)}`)]),
    );
  };
  return { item: cut(item, "") as ThreadItem, truncated };
}

/** Number of characters in all texts of an item, which make up nearly all of its memory. */
export function countCharacters({ item, texts }: Pick<ItemRecord, "item" | "texts">): number {
  let count = countTexts({ texts });
  const visit = (value: unknown): void => {
    if (typeof value === "string") count += value.length;
    else if (typeof value === "object" && value !== null)
      for (const entry of Object.values(value)) visit(entry);
  };
  visit(item);
  return count;
}

/** Number of characters of the deltas so far. */
export function countTexts({ texts }: Pick<ItemRecord, "texts">): number {
  return texts.reduce((sum, { text }) => sum + text.length, 0);
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Appends a delta. The known part is skipped, so that a repeated delta changes nothing. A gap is marked with `…` until the
 * completed item replaces the text.
 */
export function appendDelta(record: ItemRecord, { kind, index = 0, delta, offset }: Delta): boolean {
  let text = record.texts.find((each) => each.kind === kind && each.index === index);
  if (!text) {
    text = { kind, index, text: "", length: 0 };
    record.texts.push(text);
    record.texts.sort((a, b) => a.index - b.index);
  }
  const end = offset + delta.length;
  if (end <= text.length) return false;
  if (offset > text.length) text.text += "…";
  text.text += delta.slice(Math.max(0, text.length - offset));
  text.length = end;
  if (kind === "command_output" && text.text.length > LONGEST_TEXT) {
    text.text = `${text.text.slice(0, HEAD)}…${text.text.slice(-RUNNING_TAIL)}`.toWellFormed();
  }
  return true;
}

/** The main text of an item: the streamed text while the item runs, and the text of the completed item afterwards. */
export function textOf({ item, texts, status }: ItemRecord): string {
  if (status !== "completed" && status !== "failed" && texts.length > 0) {
    return texts.map(({ text }) => text).join("\n\n");
  }
  switch (item.type) {
    case "agentMessage":
    case "plan":
      return item.text;
    case "reasoning":
      return (item.summary.length > 0 ? item.summary : item.content).join("\n\n");
    case "commandExecution":
      return item.aggregatedOutput ?? "";
    case "userMessage":
      return item.content
        .map((part) => (part.type === "text" ? part.text : ""))
        .filter((text) => text !== "")
        .join("\n");
    default:
      return "";
  }
}
