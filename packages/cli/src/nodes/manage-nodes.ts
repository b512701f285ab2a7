import { confirm, isCancel } from "@clack/prompts";
import type { DaemonClient, OperationResponse } from "@codexkit/daemon/client";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { CliError, EXIT, SilentExit, usageError } from "../errors/cli-error.ts";
import { formatDuration } from "../render/format-values.ts";
import { formatTable } from "../terminal/format-table.ts";
import { revealLine } from "../terminal/sanitize.ts";

export interface DrainNodesOptions extends DaemonCommandOptions {
  readonly timeout?: number;
}

export interface RemoveNodesOptions extends DaemonCommandOptions {
  readonly rehome?: boolean;
  readonly yes?: boolean;
}

type Session = OperationResponse<"GET /sessions">["data"][number];
type FleetNode = OperationResponse<"GET /nodes">["data"][number];

/** Poll interval for nodes that are draining. */
const POLL_MS = 500;
/** Number of stranded sessions whose reasons are read. */
const STRANDED_READ = 100;
const REASONS_SHOWN = 5;

/** What the daemon says about a stranded session, besides the text. An older daemon may say less. */
const strandedProblem = z.looseObject({
  /** The node that has the folder. */
  node: z.string().optional(),
  missing: z.array(z.string()).min(1).optional(),
});

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
  await warnOfStranded(client, nodes, context);
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
  for (const { id, name, pinnedSessions } of nodes) {
    if (context.json) {
      printJson(context, { draining: id, name, pinnedSessions });
      continue;
    }
    context.stdout.write(`${revealLine(name)} ${timeout === undefined ? "is draining" : "is drained"}.\n`);
    if (pinnedSessions === 0) continue;
    context.stderr.write(
      pinnedSessions === 1
        ? `1 session can't move, because its folder is on ${revealLine(name)}. It waits until the node is started again.\n`
        : `${pinnedSessions} sessions can't move, because their folders are on ${revealLine(name)}. They wait until the node is started again.\n`,
    );
  }
}

/** Implements `codexkit nodes remove`. */
export async function removeNodes(
  given: readonly string[],
  { rehome = false, yes = false, ...options }: RemoveNodesOptions,
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
  if (!rehome && !yes) await confirmFailures(nodes, context);
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

/** Asks before sessions fail. */
async function confirmFailures(nodes: readonly FleetNode[], context: CliContext): Promise<void> {
  const affected = nodes.filter(({ pinnedSessions }) => pinnedSessions > 0);
  if (affected.length === 0) return;
  const { isInteractive, stdin, stderr, signal } = context;
  const names = new Intl.ListFormat("en").format(affected.map(({ name }) => revealLine(name)));
  const count = affected.reduce((sum, { pinnedSessions }) => sum + pinnedSessions, 0);
  const sessions = `${count} ${count === 1 ? "session" : "sessions"} whose folder is on ${affected.length === 1 ? "it" : "them"}`;
  if (!isInteractive) {
    throw usageError(
      `Removing ${names} would fail ${sessions}.`,
      `Pass --yes to fail the ${count === 1 ? "session" : "sessions"}, or --rehome if the folder exists on other nodes.`,
    );
  }
  const message = `Remove ${names} and fail ${sessions}?`;
  const answer = await confirm({ message, initialValue: false, input: stdin, output: stderr, signal });
  if (isCancel(answer)) throw new SilentExit(EXIT.interrupted);
  if (!answer) throw new SilentExit(EXIT.failed);
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

async function warnOfStranded(
  client: DaemonClient,
  nodes: readonly FleetNode[],
  { stderr, signal }: CliContext,
): Promise<void> {
  const query = { phase: "stranded", limit: STRANDED_READ } as const;
  const { data } = await client.request("GET /sessions", { query, signal });
  if (data.length === 0) return;
  const reasons = [...new Set(data.map(({ problem }) => describeReason(problem, nodes)))];
  const more = reasons.length > REASONS_SHOWN ? "; and others" : "";
  stderr.write(
    `Some sessions are stranded: ${reasons.slice(0, REASONS_SHOWN).join("; ")}${more}.\n` +
      "`codexkit sessions list --phase stranded` lists them.\n",
  );
}

/** Describes why a session is stranded. */
function describeReason(problem: Session["problem"], nodes: readonly FleetNode[]): string {
  const { node, missing } = strandedProblem.parse(problem ?? {});
  const name = node === undefined ? undefined : revealLine(node);
  if (missing !== undefined) {
    const labels = new Intl.ListFormat("en").format(missing.map((label) => `"${revealLine(label)}"`));
    const lacking = `${missing.length === 1 ? "label" : "labels"} ${labels}`;
    return name === undefined ? `no node has the ${lacking}` : `the node ${name} lacks the ${lacking}`;
  }
  if (name === undefined) return "no node has all their labels and a Codex that is new enough";
  const state = nodes.find((each) => each.name === node)?.state ?? "lost";
  if (state === "up") return `the node ${name} with their folders is starting, or its Codex is too old`;
  return `the node ${name} with their folders is ${state === "lost" ? "lost" : "drained"}`;
}
