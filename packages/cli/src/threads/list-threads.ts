import type { Codex, v2 } from "codexkit";
import type { CodexCommandOptions } from "../codex/codex-options.ts";
import { openCodex } from "../codex/open-codex.ts";
import { type CliContext, printJson } from "../context.ts";
import { formatAge } from "../render/format-values.ts";
import { formatTable } from "../terminal/format-table.ts";
import { THREAD_SOURCES } from "./thread-sources.ts";

export interface ListThreadsOptions extends CodexCommandOptions {
  readonly here?: boolean;
  readonly search?: string;
  readonly archived?: boolean;
  readonly limit: number;
}

const PAGE = 100;

/** Implements `codexkit threads list`. */
export async function listThreads(options: ListThreadsOptions, context: CliContext): Promise<void> {
  const { here = false, search, archived = false, limit } = options;
  const { signal, json } = context;
  await using opened = await openCodex(options, { signal });
  const threads: v2.Thread[] = [];
  const query: Parameters<Codex["listThreads"]>[0] = {
    sortKey: "updated_at",
    sourceKinds: THREAD_SOURCES,
    modelProviders: [],
    archived,
    limit: Math.min(limit, PAGE),
    ...(here && { cwd: process.cwd() }),
    ...(search !== undefined && { searchTerm: search }),
  };
  for await (const thread of opened.codex.listThreads(query, { signal })) {
    threads.push(thread);
    if (threads.length === limit) break;
  }
  if (json) for (const thread of threads) printJson(context, thread);
  else if (threads.length === 0) context.stderr.write("No threads found.\n");
  else {
    const rows = threads.map(({ id, updatedAt, name, preview, cwd }) => [
      id,
      formatAge(Date.now() - updatedAt * 1000),
      name ?? (preview || "(no messages)"),
      cwd,
    ]);
    context.stdout.write(formatTable(["ID", "CHANGED", "NAME", "FOLDER"], rows, context));
  }
}
