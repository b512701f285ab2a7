import { confirm, isCancel } from "@clack/prompts";
import type { DaemonClient, ImportedSession, Session } from "@codexkit/daemon/client";
import { openAsBlob } from "node:fs";
import { access, constants, open, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { CliError, EXIT, SilentExit, usageError } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";
import { findSession } from "./find-session.ts";

export interface ExportOptions extends DaemonCommandOptions {
  readonly output?: string;
  readonly force?: boolean;
}

export interface ImportOptions extends DaemonCommandOptions {
  readonly cwd?: string;
  readonly name?: string;
  readonly trust?: boolean;
}

export interface DeleteOptions extends DaemonCommandOptions {
  readonly yes?: boolean;
}

/** How long the daemon may take to interrupt a turn and delete a session. */
const DELETE_MS = 30_000;

/** Implements `codexkit sessions export`. */
export async function exportSession(
  text: string,
  options: ExportOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const { signal, stdout } = context;
  const { id } = await findSession(client, text, signal);
  const { output = `${id}.session`, force = false } = options;
  if (output !== "-" && !force && (await stat(output).catch(() => undefined))) {
    throw usageError(
      `The file ${output} already exists.`,
      "Replace it with --force, or choose another file with -o.",
    );
  }
  const contents = Readable.fromWeb(
    (await client.exportSession(id, { signal })) as Parameters<typeof Readable.fromWeb>[0],
  );
  if (output === "-") {
    await pipeline(contents, stdout, { end: false, signal });
    return;
  }
  const bytes = await writeWhole(contents, output, signal);
  if (context.json) printJson(context, { sessionId: id, file: output, bytes });
  else stdout.write(`Wrote ${output} (${bytes} bytes).\n`);
}

/** Writes the file completely or not at all. */
async function writeWhole(contents: Readable, path: string, signal: AbortSignal): Promise<number> {
  const temporary = `${path}.part`;
  try {
    const file = await open(temporary, "w", 0o600);
    await pipeline(contents, file.createWriteStream(), { signal });
    await rename(temporary, path);
    return (await stat(path)).size;
  } catch (error) {
    await rm(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (signal.aborted || code === undefined) throw error;
    throw new CliError(EXIT.failed, `The file ${path} can't be written (${code}).`, { cause: error });
  }
}

/** Implements `codexkit sessions import`. */
export async function importSession(
  file: string,
  options: ImportOptions,
  context: CliContext,
): Promise<void> {
  const { cwd, name, trust } = options;
  const blob = await openFile(file);
  const { client } = await connectDaemon(options, context);
  const { session, leftOut } = await client.importSession(blob, {
    ...(cwd !== undefined && { cwd }),
    ...(name !== undefined && { name }),
    ...(trust !== undefined && { trust }),
    signal: context.signal,
  });
  if (context.json) return printJson(context, { ...session, leftOut });
  context.stdout.write(`Imported session ${session.id}: ${describe(session)}\n`);
  const notes = describeLeftOut(leftOut);
  if (notes.length > 0)
    context.stderr.write(
      `Left out${trust === true ? "" : ", because --trust was not given"}: ${revealLine(notes.join("; "))}.\n`,
    );
}

function describeLeftOut({
  mcpServers,
  tools,
  environment,
  permissionMode,
  answers,
}: ImportedSession["leftOut"]): string[] {
  return [
    ...(mcpServers.length > 0 ? [`the MCP servers ${mcpServers.join(", ")}`] : []),
    ...(tools.length > 0 ? [`the tools ${tools.join(", ")}`] : []),
    ...(environment === null ? [] : [`the environment ${environment}`]),
    ...(permissionMode === null ? [] : [`the permission mode ${permissionMode}`]),
    ...(answers > 0 ? [`${answers} answers to parked approvals`] : []),
  ];
}

async function openFile(file: string): Promise<Blob> {
  try {
    await access(file, constants.R_OK);
    return await openAsBlob(file);
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.usage, `The file ${file} can't be read (${code}).`, { cause: error });
  }
}

/** Implements `codexkit sessions delete`. */
export async function deleteSessions(
  texts: readonly string[],
  options: DeleteOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const sessions: Session[] = [];
  // Look up all sessions before deleting the first, so that nothing is deleted if one name is misspelt.
  for (const text of texts) sessions.push(await findSession(client, text, context.signal));
  if (!options.yes) await confirmDeletion(sessions, context);
  for (const session of sessions) {
    await deleteSession(client, session, context.signal);
    if (context.json) printJson(context, { deleted: session.id });
    else context.stdout.write(`Deleted session ${session.id}: ${describe(session)}\n`);
  }
}

async function deleteSession(client: DaemonClient, { id }: Session, signal: AbortSignal): Promise<void> {
  const { state, problem } = await client.request("DELETE /sessions/{sessionId}", {
    params: { sessionId: id },
    query: { wait: DELETE_MS },
    signal,
  });
  if (state === "failed")
    throw new CliError(EXIT.failed, `Session ${id} was not deleted: ${problem?.detail ?? "unknown reason"}`);
}

async function confirmDeletion(sessions: readonly Session[], context: CliContext): Promise<void> {
  const { isInteractive, stdin, stderr, signal } = context;
  if (!isInteractive) {
    throw usageError("Deleting requires confirmation.", "Pass --yes to delete without confirmation.");
  }
  for (const session of sessions) stderr.write(`${session.id}  ${describe(session)}\n`);
  const message =
    sessions.length === 1 ? "Delete this session?" : `Delete these ${sessions.length} sessions?`;
  const answer = await confirm({ message, initialValue: false, input: stdin, output: stderr, signal });
  if (isCancel(answer)) throw new SilentExit(EXIT.interrupted);
  if (!answer) throw new SilentExit(EXIT.failed);
}

function describe({ name, preview, cwd }: Session): string {
  return revealLine(name ?? (preview || cwd));
}
