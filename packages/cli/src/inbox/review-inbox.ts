import { type Approval, type DaemonClient, DaemonClientError } from "@codexkit/daemon/client";
import type { CliContext } from "../context.ts";
import { isAnswerable } from "../daemon/approval-state.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { lifetime } from "../process/lifetime.ts";
import { findSession } from "../session/find-session.ts";
import { formatApproval } from "./format-approval.ts";
import { listInbox, readFolder, readInbox } from "./list-inbox.ts";
import { promptApproval } from "./prompt-approval.ts";

export interface ReviewOptions extends DaemonCommandOptions {
  readonly session?: string;
  readonly watch?: boolean;
}

/** Implements `codexkit inbox`: asks about each open or parked approval. */
export async function reviewInbox(options: ReviewOptions, context: CliContext): Promise<void> {
  if (!context.isInteractive) {
    await listInbox(options, context);
    return;
  }
  const { client } = await connectDaemon(options, context);
  const { session, watch = false } = options;
  const sessionId =
    session === undefined ? undefined : (await findSession(client, session, context.signal)).id;
  await using open = new OpenApprovals(client, sessionId, context.signal);
  for (const approval of await readInbox(client, options, context.signal)) open.add(approval);
  let asked = 0;
  for (;;) {
    const approval = open.next() ?? (watch ? await open.waitForNext() : undefined);
    if (!approval) break;
    asked += 1;
    await review(approval, open, client, context);
  }
  context.stderr.write(asked === 0 ? "Nothing is waiting for an answer.\n" : "That was all.\n");
}

async function review(
  approval: Approval,
  open: OpenApprovals,
  client: DaemonClient,
  { stdin, stdout, stderr, style, signal }: CliContext,
): Promise<void> {
  const { id, sessionId } = approval;
  const cwd = await readFolder(client, sessionId, signal);
  stdout.write(`${["", ...formatApproval(approval, cwd, style)].join("\n")}\n`);
  const closed = open.signalFor(id);
  const answer = await promptApproval(approval, {
    input: stdin,
    output: stderr,
    signal: AbortSignal.any([closed, signal]),
  });
  signal.throwIfAborted();
  if (closed.aborted) {
    stdout.write(`${style.dim("This entry was answered elsewhere, or its turn has ended.")}\n`);
    return;
  }
  // Ctrl-C.
  if (answer === undefined) lifetime.interrupt();
  signal.throwIfAborted();
  if (answer === undefined || answer === "later") return;
  try {
    await client.answer(id, answer, { signal });
  } catch (error) {
    // It was answered elsewhere, or the turn has ended. Continue with the next entry.
    if (!DaemonClientError.is(error) || error.status >= 500) throw error;
    stdout.write(`${style.yellow("warning:")} ${error.message}\n`);
  }
}

/**
 * The open and parked approvals that have not been asked about yet, kept up to date through the daemon's event stream.
 */
class OpenApprovals implements AsyncDisposable {
  readonly #seen = new Set<string>();
  readonly #open = new Map<string, Approval>();
  readonly #closers = new Map<string, AbortController>();
  readonly #sessionId: string | undefined;
  readonly #ended = new AbortController();
  readonly #reading: Promise<void>;
  #wake = Promise.withResolvers<void>();

  constructor(client: DaemonClient, sessionId: string | undefined, signal: AbortSignal) {
    this.#sessionId = sessionId;
    this.#reading = this.#read(client, AbortSignal.any([signal, this.#ended.signal]));
    // `waitForNext` rejects with this error.
    this.#reading.catch(() => undefined);
  }

  add(approval: Approval): void {
    if (this.#seen.has(approval.id)) return;
    this.#seen.add(approval.id);
    this.#open.set(approval.id, approval);
  }

  next(): Approval | undefined {
    const [approval] = this.#open.values();
    if (approval) this.#open.delete(approval.id);
    return approval;
  }

  /** Resolves to undefined when the program has to end. */
  async waitForNext(): Promise<Approval | undefined> {
    for (;;) {
      const approval = this.next();
      if (approval || this.#ended.signal.aborted) return approval;
      this.#wake = Promise.withResolvers<void>();
      const isOver = await Promise.race([
        this.#wake.promise.then(() => false),
        this.#reading.then(() => true),
      ]);
      if (isOver) return undefined;
    }
  }

  /** Aborts when the approval no longer needs an answer. */
  signalFor(id: string): AbortSignal {
    const closer = this.#closers.get(id) ?? new AbortController();
    this.#closers.set(id, closer);
    return closer.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#reading.catch(() => undefined);
  }

  async #read(client: DaemonClient, signal: AbortSignal): Promise<void> {
    for await (const frame of client.events({ signal })) {
      if (frame.type !== "approval") continue;
      const { approval } = frame;
      if (this.#sessionId !== undefined && approval.sessionId !== this.#sessionId) continue;
      if (isAnswerable(approval)) this.add(approval);
      else {
        this.#open.delete(approval.id);
        this.#closers.get(approval.id)?.abort();
      }
      this.#wake.resolve();
    }
  }
}
