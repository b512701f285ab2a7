import type { Approval, DaemonClient, Item, Session } from "@codexkit/daemon/client";
import type { CodexEvent, v2 } from "codexkit";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon, MAX_PAGE } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { isAnswerable } from "../daemon/approval-state.ts";
import { formatAge, formatCount } from "../render/format-values.ts";
import { TurnView } from "../render/turn-view.ts";
import { LiveOutput } from "../terminal/live-output.ts";
import { revealLine, sanitizeText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { findSession } from "./find-session.ts";

export interface PrintSessionOptions extends DaemonCommandOptions {
  readonly items: number;
}

/** Implements `codexkit sessions show`. */
export async function printSession(
  text: string,
  options: PrintSessionOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const { signal, stdout, style } = context;
  const session = await findSession(client, text, signal);
  const page = await client.request("GET /sessions/{sessionId}/items", {
    params: { sessionId: session.id },
    query: { limit: Math.min(options.items, MAX_PAGE) },
    signal,
  });
  const items = page.data.toReversed();
  if (context.json) {
    printJson(context, { session, items });
    return;
  }
  const isAbandoned = items.some(({ status }) => status === "abandoned");
  const approvals = isAbandoned ? await readApprovals(client, session.id, signal) : NO_APPROVALS;
  using output = new LiveOutput(stdout, false);
  const view = new TurnView({ output, style, cwd: session.cwd });
  view.block(formatSession(session, style));
  if (page.next !== null) view.block([style.dim("… older entries are omitted; show more with --items")]);
  for (const item of items) printItem(item, approvals.get(item.id), view, style);
}

const NO_APPROVALS: ReadonlyMap<string, Approval> = new Map();

/** Returns the newest approvals of a session by the ID of their item. */
async function readApprovals(
  client: DaemonClient,
  sessionId: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Approval>> {
  const { data } = await client.request("GET /inbox", { query: { sessionId, limit: MAX_PAGE }, signal });
  return new Map(
    data.toReversed().flatMap((approval) => (approval.itemId ? [[approval.itemId, approval]] : [])),
  );
}

export function formatSession(session: Session, style: Style): string[] {
  const { id, name, phase, cwd, threadId, settings, usage, problem, createdAt, updatedAt, node } = session;
  const rows: [string, string | null | undefined][] = [
    ["session", id],
    ["phase", problem === null ? phase : `${phase}: ${problem.detail}`],
    ["folder", cwd],
    ["thread", threadId],
    ["model", [settings.model ?? "default", settings.effort].filter(Boolean).join(", effort ")],
    ["mode", `${settings.agentMode}, ${settings.permissionMode}, approvals ${settings.approvalPolicy}`],
    ["usage", usage === null ? undefined : `${formatCount(usage.totalTokens)} tokens`],
    ["node", node],
    ["created", `${formatAge(Date.now() - createdAt)}, changed ${formatAge(Date.now() - updatedAt)}`],
  ];
  return [
    style.bold(revealLine(name ?? session.preview) || "(no name)"),
    ...rows.flatMap(([label, value]) =>
      value ? [`  ${style.dim(label.padEnd(8))} ${revealLine(value)}`] : [],
    ),
  ];
}

/** Prints an item of the history in the same way as `run`. */
function printItem(
  { item: stored, status }: Item,
  approval: Approval | undefined,
  view: TurnView,
  style: Style,
): void {
  const item = stored as unknown as v2.ThreadItem;
  const isAbandoned = status === "abandoned";
  // The stored item is from the time when it started.
  const shown =
    isAbandoned && "status" in item
      ? { ...item, status: isWaiting(approval) ? "waiting" : "abandoned" }
      : item;
  if (item.type === "userMessage") view.block(formatUserMessage(item, style));
  else view.handle({ type: "item.completed", item: shown } as CodexEvent);
  if (isAbandoned) view.block([style.yellow(describeAbandoned(approval))]);
}

/** Describes an item that has no end in the journal. */
function describeAbandoned(approval: Approval | undefined): string {
  // Without a time of parking, the request ended before its process.
  if (approval === undefined || (approval.parkedAt === null && !isAnswerable(approval))) {
    return "The outcome is unknown: its process was killed.";
  }
  if (isWaiting(approval)) return `Waits for approval. Run: codexkit inbox show ${approval.id}`;
  return `Its process has ended. For what became of the approval, run: codexkit inbox show ${approval.id}`;
}

function isWaiting(approval: Approval | undefined): boolean {
  return approval !== undefined && isAnswerable(approval);
}

/** Formats a user message in the same way as `chat`. */
export function formatUserMessage(
  { content }: Extract<v2.ThreadItem, { type: "userMessage" }>,
  style: Style,
): string[] {
  const text = content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  return sanitizeText(text.trimEnd())
    .split("\n")
    .map((line, index) => `${index === 0 ? style.bold("›") : " "} ${line}`);
}
