import type { DaemonClient, OperationResponse } from "@codexkit/daemon/client";
import { setTimeout as delay } from "node:timers/promises";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { formatDuration } from "../render/format-values.ts";
import { formatTable } from "../terminal/format-table.ts";
import { revealLine } from "../terminal/sanitize.ts";

export interface DrainNodesOptions extends DaemonCommandOptions {
  readonly timeout?: number;
}

export interface RemoveNodesOptions extends DaemonCommandOptions {
  readonly rehome?: boolean;
}

type FleetNode = OperationResponse<"GET /nodes">["data"][number];

/** Poll interval for nodes that are draining. */
const POLL_MS = 500;

/** Implements `codexkit nodes list`. */
export async function listNodes(options: DaemonCommandOptions, context: CliContext): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const nodes = await readNodes(client, context);
  if (context.json) {
    for (const node of nodes) printJson(context, node);
    return;
  }
  const rows = nodes.map((node) => [
    node.name,
    node.state,
    `${node.sessions}/${node.capacity}`,
    String(node.runningTurns),
    node.state === "lost" ? "ended" : formatDuration(Math.max(0, node.leaseUntil - Date.now())),
    node.labels.join(",") || "none",
    node.codexVersion,
    node.url ?? "none",
  ]);
  const header = ["NAME", "STATE", "SESSIONS", "TURNS", "LEASE", "LABELS", "CODEX", "URL"];
  context.stdout.write(formatTable(header, rows, context));
  await warnOfStranded(client, context);
}

/** Implements `codexkit nodes drain`. */
export async function drainNodes(
  given: readonly string[],
  { timeout, ...options }: DrainNodesOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const nodes = findNodes(await readNodes(client, context), given);
  const lost = nodes.find(({ state }) => state === "lost");
  if (lost) {
    throw new CliError(EXIT.failed, `The node ${revealLine(lost.name)} is lost and can't be drained.`, {
      hint: "Its sessions have moved to other nodes, or wait until it returns. Remove it with `codexkit nodes remove`.",
    });
  }
  const { signal } = context;
  for (const { id } of nodes) {
    await client.request("POST /nodes/{nodeId}/drain", { params: { nodeId: id }, signal });
  }
  if (timeout !== undefined) await waitUntilEmpty(client, nodes, timeout, context);
  for (const { id, name } of nodes) {
    if (context.json) printJson(context, { draining: id, name });
    else
      context.stdout.write(`${revealLine(name)} ${timeout === undefined ? "is draining" : "is drained"}.\n`);
  }
}

/** Implements `codexkit nodes remove`. */
export async function removeNodes(
  given: readonly string[],
  { rehome = false, ...options }: RemoveNodesOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  // Look up all nodes before removing the first, so that nothing is removed if one name is misspelt.
  const nodes = findNodes(await readNodes(client, context), given);
  const running = nodes.find(({ state }) => state !== "lost");
  if (running) {
    throw new CliError(EXIT.failed, `The node ${revealLine(running.name)} is ${running.state}, not lost.`, {
      hint: "Stop it first. Its lease then ends immediately, or within half a minute after a kill.",
    });
  }
  for (const { id, name } of nodes) {
    await client.request("DELETE /nodes/{nodeId}", {
      params: { nodeId: id },
      query: { rehome },
      signal: context.signal,
    });
    if (context.json) printJson(context, { removed: id, name });
    else context.stdout.write(`Removed ${revealLine(name)}.\n`);
  }
}

async function readNodes(client: DaemonClient, { signal }: CliContext): Promise<readonly FleetNode[]> {
  return (await client.request("GET /nodes", { signal })).data;
}

/** Finds nodes by ID, or by name. A name selects the newest start of that node. */
function findNodes(nodes: readonly FleetNode[], given: readonly string[]): readonly FleetNode[] {
  return given.map((text) => {
    const named = nodes.filter(({ name }) => name === text);
    const node =
      nodes.find(({ id }) => id === text) ?? named.toSorted((a, b) => b.startedAt - a.startedAt)[0];
    if (node) return node;
    throw new CliError(EXIT.failed, `There is no node with the ID or name "${revealLine(text)}".`, {
      hint: "Run `codexkit nodes` to see the nodes.",
    });
  });
}

async function waitUntilEmpty(
  client: DaemonClient,
  nodes: readonly FleetNode[],
  timeoutMs: number,
  context: CliContext,
): Promise<void> {
  const ids = new Set(nodes.map(({ id }) => id));
  for (const until = Date.now() + timeoutMs; ;) {
    const busy = (await readNodes(client, context)).filter(
      ({ id, state, sessions }) => ids.has(id) && state !== "lost" && sessions > 0,
    );
    if (busy.length === 0) return;
    if (Date.now() + POLL_MS > until) {
      const left = busy.map(({ name, sessions }) => `${revealLine(name)} (${sessions})`).join(", ");
      throw new CliError(
        EXIT.failed,
        `Some nodes still have sessions after ${formatDuration(timeoutMs)}: ${left}.`,
        {
          hint: "They keep draining. Stopping a node interrupts its running turns, and other nodes continue them.",
        },
      );
    }
    await delay(POLL_MS, undefined, { signal: context.signal });
  }
}

async function warnOfStranded(client: DaemonClient, { stderr, signal }: CliContext): Promise<void> {
  const { data } = await client.request("GET /sessions", { query: { phase: "stranded", limit: 1 }, signal });
  if (data.length === 0) return;
  stderr.write(
    "Some sessions are stranded, because their folders are on lost nodes. `codexkit sessions list --phase stranded` lists them.\n",
  );
}
