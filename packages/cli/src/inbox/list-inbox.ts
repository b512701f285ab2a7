import { type Approval, type DaemonClient, DaemonClientError } from "@codexkit/daemon/client";
import { type CliContext, printJson } from "../context.ts";
import { ANSWERABLE, isAnswerable } from "../daemon/approval-state.ts";
import { connectDaemon, MAX_PAGE } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { checkId, checkIdPrefix } from "../options/check-id.ts";
import { formatAge } from "../render/format-values.ts";
import { findSession } from "../session/find-session.ts";
import { formatTable } from "../terminal/format-table.ts";
import { revealLine } from "../terminal/sanitize.ts";
import { summarizeRequest } from "../render/format-request.ts";
import { formatApproval } from "./format-approval.ts";

export interface ListInboxOptions extends DaemonCommandOptions {
  readonly session?: string;
  readonly all?: boolean;
  readonly limit?: number;
}

/** Implements `codexkit inbox list`. */
export async function listInbox(options: ListInboxOptions, context: CliContext): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const approvals = await readInbox(client, options, context.signal);
  if (context.json) {
    for (const approval of approvals) printJson(context, approval);
    return;
  }
  if (approvals.length === 0) {
    context.stderr.write("Nothing is waiting for an answer.\n");
    return;
  }
  const rows = approvals.map(({ id, kind, state, createdAt, sessionId, request }) => [
    id,
    state,
    kind,
    formatAge(Date.now() - createdAt),
    sessionId,
    summarizeRequest(request),
  ]);
  context.stdout.write(formatTable(["ID", "STATE", "KIND", "ASKED", "SESSION", "REQUEST"], rows, context));
}

/** Entries that can be answered, or all of them. Oldest first: those have waited longest. */
export async function readInbox(
  client: DaemonClient,
  { session, all = false, limit = MAX_PAGE }: ListInboxOptions,
  signal: AbortSignal,
): Promise<readonly Approval[]> {
  const sessionId = session === undefined ? undefined : (await findSession(client, session, signal)).id;
  const query = { limit: Math.min(limit, MAX_PAGE), ...(sessionId !== undefined && { sessionId }) };
  const found = new Map<string, Approval>();
  // One after the other, so that an entry that is parked in the meantime is found at least once.
  for (const state of all ? [undefined] : ANSWERABLE) {
    const { data } = await client.request("GET /inbox", {
      query: { ...query, ...(state !== undefined && { state }) },
      signal,
    });
    for (const approval of data) found.set(approval.id, approval);
  }
  // IDs are in the order of creation.
  const sorted = [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return sorted.slice(-query.limit);
}

/** Implements `codexkit inbox show`. */
export async function printApproval(
  text: string,
  options: DaemonCommandOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const { style, stdout, signal } = context;
  const approval = await findApproval(client, text, signal);
  if (context.json) {
    printJson(context, approval);
    return;
  }
  const cwd = await readFolder(client, approval.sessionId, signal);
  const offers = approval.offers.map(({ id, label, stores }) => {
    const remembered = stores === null ? "" : style.dim(` (remembers ${revealLine(stores)})`);
    return `    ${style.bold(revealLine(id))}  ${revealLine(label)}${remembered}`;
  });
  const lines = [
    ...formatApproval(approval, cwd, style),
    ...(isAnswerable(approval) && offers.length > 0 ? [`  ${style.dim("Offers:")}`, ...offers] : []),
  ];
  stdout.write(`${lines.join("\n")}\n`);
}

export async function readFolder(
  client: DaemonClient,
  sessionId: string,
  signal: AbortSignal,
): Promise<string> {
  const { cwd } = await client.request("GET /sessions/{sessionId}", { params: { sessionId }, signal });
  return cwd;
}

/** Finds an approval by its ID, or one that can be answered by the beginning of its ID. */
export async function findApproval(
  client: DaemonClient,
  text: string,
  signal: AbortSignal,
): Promise<Approval> {
  checkId(text, "approval");
  try {
    if (/^[\x21-\x7E]{1,256}$/.test(text)) {
      return await client.request("GET /inbox/{approvalId}", { params: { approvalId: text }, signal });
    }
  } catch (error) {
    if (!DaemonClientError.is(error) || error.code !== "approval_not_found") throw error;
  }
  checkIdPrefix(text, "an approval");
  const found = (await readInbox(client, {}, signal)).filter(({ id }) => id.startsWith(text));
  const [approval, ...others] = found;
  if (!approval) {
    throw new CliError(EXIT.failed, `There is no open or parked approval "${revealLine(text)}".`, {
      hint: "Run `codexkit inbox list` to see the entries that can be answered.",
    });
  }
  if (others.length > 0) {
    throw new CliError(
      EXIT.failed,
      `${found.length} open or parked approvals begin with "${revealLine(text)}".`,
      {
        hint: `Name one by its ID: ${found
          .slice(0, 5)
          .map(({ id }) => id)
          .join(", ")}.`,
      },
    );
  }
  return approval;
}
