import type { Item, Session } from "@codexkit/daemon/client";
import type { CodexEvent, v2 } from "codexkit";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon, MAX_PAGE } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
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
  using output = new LiveOutput(stdout, false);
  const view = new TurnView({ output, style, cwd: session.cwd });
  view.block(formatSession(session, style));
  if (page.next !== null) view.block([style.dim("… older entries are omitted; show more with --items")]);
  for (const item of items) printItem(item, view, style);
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
function printItem({ item: stored, status }: Item, view: TurnView, style: Style): void {
  const item = stored as unknown as v2.ThreadItem;
  if (item.type === "userMessage") view.block(formatUserMessage(item, style));
  else view.handle({ type: "item.completed", item } as CodexEvent);
  if (status === "abandoned") view.block([style.yellow("The outcome is unknown: its process was killed.")]);
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
