import type { Session } from "@codexkit/daemon/client";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon, MAX_PAGE } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { formatAge } from "../render/format-values.ts";
import { formatTable } from "../terminal/format-table.ts";

export interface ListSessionsOptions extends DaemonCommandOptions {
  readonly search?: string;
  readonly phase?: Session["phase"];
  readonly archived?: boolean;
  readonly limit: number;
}

/** Implements `codexkit sessions list`. */
export async function listSessions(options: ListSessionsOptions, context: CliContext): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const { search, phase, archived, limit } = options;
  const sessions: Session[] = [];
  let cursor: string | null = null;
  do {
    const page: { readonly data: readonly Session[]; readonly next: string | null } = await client.request(
      "GET /sessions",
      {
        query: {
          limit: Math.min(MAX_PAGE, limit - sessions.length),
          ...(search !== undefined && { search }),
          ...(phase !== undefined && { phase }),
          ...(archived !== undefined && { archived }),
          ...(cursor !== null && { cursor }),
        },
        signal: context.signal,
      },
    );
    sessions.push(...page.data);
    cursor = page.next;
  } while (cursor !== null && sessions.length < limit);
  if (context.json) {
    for (const session of sessions) printJson(context, session);
    return;
  }
  if (sessions.length === 0) {
    context.stderr.write("No sessions found.\n");
    return;
  }
  const rows = sessions.map(({ id, phase: now, updatedAt, name, preview, cwd }) => [
    id,
    now,
    formatAge(Date.now() - updatedAt),
    name ?? (preview || "(no messages)"),
    cwd,
  ]);
  context.stdout.write(formatTable(["ID", "PHASE", "CHANGED", "NAME", "FOLDER"], rows, context));
}
