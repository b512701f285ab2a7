import type { v2 } from "codexkit";
import type { CliThread } from "../api/thread.ts";
import type { CliHome, RolloutName } from "./cli-home.ts";
import type { ThreadLimits } from "./limits.ts";
import { mapLine } from "./map-line.ts";
import { costOf, readLines } from "./rollout-lines.ts";
import { parseJson, readMeta, type RolloutMeta } from "./rollout-meta.ts";

/** Number of bytes that are searched for the first message. The instructions for the model come before it. */
export const HEAD_BYTES = 1024 * 1024;
const PREVIEW_CHARACTERS = 200;
/** Number of characters to return before and after a match. */
const AROUND = 60;
/** Matches lines that can contain a message. Most lines can't, and they are not parsed. */
const MESSAGE = /"(?:UserMessage|AgentMessage|user_message|agent_message)"/;

/** The beginning of a thread's newest file. */
export interface ThreadHead {
  readonly name: RolloutName;
  readonly meta: RolloutMeta;
  readonly preview: string;
  readonly updatedAt: number;
  /** Size of the file on disk. */
  readonly bytes: number;
  /** Number of bytes that were read. */
  readonly cost: number;
}

export async function readHead(home: CliHome, name: RolloutName, limits: ThreadLimits): Promise<ThreadHead> {
  await using rollout = await home.open(name, { headBytes: HEAD_BYTES });
  const meta = await readMeta(rollout, limits.lineBytes);
  const to = Math.min(rollout.size, HEAD_BYTES);
  let preview = "";
  let cost = 0;
  for await (const line of readLines(rollout.handle, {
    from: meta.end,
    to,
    maxLineBytes: limits.lineBytes,
  })) {
    cost += costOf(line);
    if (cost > HEAD_BYTES) break;
    const message = messageOf(line.text, { threadId: meta.threadId, offset: line.offset });
    if (message?.type !== "userMessage") continue;
    preview = oneLine(textOf(message)).slice(0, PREVIEW_CHARACTERS);
    break;
  }
  const { updatedAt, diskBytes: bytes } = rollout;
  return { name, meta, preview, updatedAt, bytes, cost: name.isCompressed ? to : meta.end + cost };
}

export interface SearchResult {
  /** The text around the match. Undefined if there is no match. */
  readonly match: string | undefined;
  /** How much of the budget was used. */
  readonly cost: number;
  /** Whether the budget was used up before the end of the file. */
  readonly isCut: boolean;
}

/** Searches the name, the folder and the messages in a thread's newest file for a text. Case is ignored. */
export async function searchText(
  home: CliHome,
  name: RolloutName,
  {
    thread,
    search,
    budget,
    limits,
  }: {
    readonly thread: Pick<CliThread, "id" | "name" | "cwd" | "preview">;
    readonly search: string;
    readonly budget: number;
    readonly limits: ThreadLimits;
  },
): Promise<SearchResult> {
  for (const text of [thread.name ?? "", thread.preview, thread.cwd]) {
    const match = excerpt(text, search);
    if (match !== undefined) return { match, cost: 0, isCut: false };
  }
  // One byte more than the budget shows whether there is more.
  await using rollout = await home.open(name, { headBytes: budget + 1 });
  const to = Math.min(rollout.size, budget);
  const range = { from: 0, to, maxLineBytes: limits.lineBytes };
  let cost = 0;
  for await (const line of readLines(rollout.handle, range)) {
    const message = messageOf(line.text, { threadId: thread.id, offset: line.offset });
    const match = message && excerpt(textOf(message), search);
    cost += costOf(line);
    if (match !== undefined) return { match, cost, isCut: false };
    if (cost > budget) return { match: undefined, cost, isCut: true };
  }
  return { match: undefined, cost: Math.max(cost, to), isCut: to < rollout.size };
}

type Message = v2.ThreadItem & { type: "userMessage" | "agentMessage" };

function messageOf(
  text: string | undefined,
  place: { readonly threadId: string; readonly offset: number },
): Message | undefined {
  if (text === undefined || !MESSAGE.test(text)) return undefined;
  const event = mapLine(parseJson(text), place);
  if (event?.type !== "item.completed") return undefined;
  const { item } = event;
  return item.type === "userMessage" || item.type === "agentMessage" ? item : undefined;
}

function textOf(item: Message): string {
  if (item.type === "agentMessage") return item.text;
  return item.content
    .map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("\n");
}

function excerpt(text: string, search: string): string | undefined {
  const at = text.toLowerCase().indexOf(search.toLowerCase());
  if (at < 0) return undefined;
  const start = Math.max(0, at - AROUND);
  const end = Math.min(text.length, at + search.length + AROUND);
  return `${start > 0 ? "…" : ""}${oneLine(text.slice(start, end))}${end < text.length ? "…" : ""}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
