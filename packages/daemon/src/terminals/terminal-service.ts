import { messageOf } from "@codexkit/rpc/async";
import { userInfo } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { CreateTerminal } from "../api/terminal.ts";
import { KEY_VARIABLES } from "../codex/credentials.ts";
import type { Database } from "../database.ts";
import type { SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import type { FileService } from "../files/file-service.ts";
import { TERMINAL_LIMITS, type TerminalLimits } from "./limits.ts";
import { Terminal } from "./terminal.ts";
import { TerminalHost } from "./terminal-host.ts";

export interface TerminalServiceOptions {
  readonly database: Database;
  readonly files: FileService;
  readonly limits?: Partial<TerminalLimits> | undefined;
}

const ENDED: ReadonlySet<string> = new Set(["session_deleted", "session_not_found"]);
const RETRY_MS = 1000;

/** The terminals of this node's sessions. They end with their session, and with the daemon, even if it is killed. */
export class TerminalService implements AsyncDisposable {
  readonly limits: TerminalLimits;
  readonly #database: Database;
  readonly #files: FileService;
  readonly #host: TerminalHost;
  readonly #terminals = new Map<string, Terminal>();
  /** Sessions with terminals, each with the controller that stops its observation. */
  readonly #sessions = new Map<string, AbortController>();
  /** The session ID of each terminal that is being started. */
  readonly #starting: string[] = [];
  #isClosed = false;

  constructor({ database, files, limits }: TerminalServiceOptions) {
    this.limits = { ...TERMINAL_LIMITS, ...limits };
    this.#database = database;
    this.#files = files;
    this.#host = new TerminalHost(terminalEnv());
  }

  async create(session: SessionRow, options: CreateTerminal, by: string): Promise<Terminal> {
    const { columns, rows, command, cwd = "." } = options;
    const path = this.#files.resolve(session, cwd);
    await using folder = await this.#files.paths.openFolder(path, cwd);
    this.#checkCount(session.id);
    this.#starting.push(session.id);
    try {
      const [program = userInfo().shell ?? "/bin/sh", ...args] = command ?? [];
      const terminal = await Terminal.start(
        {
          sessionId: session.id,
          by,
          command: [program, ...args],
          cwd: folder.path,
          env: terminalEnv(),
          columns,
          rows,
        },
        this.#host,
        this.limits,
      );
      this.#add(terminal);
      return terminal;
    } catch (error) {
      if (DaemonError.is(error)) throw error;
      const detail = `Failed to open the terminal: ${messageOf(error)}`;
      throw new DaemonError("unprocessable", detail, { cause: error });
    } finally {
      this.#starting.splice(this.#starting.indexOf(session.id), 1);
    }
  }

  /** Returns the terminals in the order of their creation. */
  list(sessionId: string): readonly Terminal[] {
    return [...this.#terminals.values()].filter((terminal) => terminal.sessionId === sessionId);
  }

  /** Throws `not_found`. */
  require(sessionId: string, id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (terminal?.sessionId === sessionId) return terminal;
    throw new DaemonError("not_found", `The session has no terminal "${id}".`);
  }

  /** Ends a terminal and removes it. */
  async remove(terminal: Terminal): Promise<void> {
    await terminal.kill();
    this.#forget(terminal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const observation of this.#sessions.values()) observation.abort();
    await this.#host[Symbol.asyncDispose]();
    await Promise.all([...this.#terminals.values()].map(async ({ ended }) => ended));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #checkCount(sessionId: string): void {
    const { terminals, terminalsPerSession } = this.limits;
    if (this.#isClosed) throw new DaemonError("draining", "The daemon is closing.");
    const running = [...this.#terminals.values()].filter(({ end }) => !end).length + this.#starting.length;
    if (running >= terminals) {
      throw new DaemonError("too_many_terminals", `${running} terminals are already open.`);
    }
    const starting = this.#starting.filter((id) => id === sessionId).length;
    const count = this.list(sessionId).length + starting;
    if (count >= terminalsPerSession) {
      throw new DaemonError(
        "too_many_terminals",
        `The session already has ${count} terminals. Delete one first.`,
      );
    }
  }

  #add(terminal: Terminal): void {
    this.#terminals.set(terminal.id, terminal);
    void terminal.ended.then(() => {
      setTimeout(() => this.#forget(terminal), this.limits.endedMs).unref();
    });
    void this.#observe(terminal.sessionId);
  }

  #forget(terminal: Terminal): void {
    this.#terminals.delete(terminal.id);
    if (this.list(terminal.sessionId).length === 0) this.#sessions.get(terminal.sessionId)?.abort();
  }

  /** Ends the terminals of a session when any node deletes the session. */
  async #observe(sessionId: string): Promise<void> {
    if (this.#sessions.has(sessionId) || this.#isClosed) return;
    const observation = new AbortController();
    this.#sessions.set(sessionId, observation);
    const { signal } = observation;
    while (!signal.aborted) {
      try {
        const session = await this.#database.sessions.require(sessionId);
        const batches = this.#database.journal.follow(sessionId, { after: session.last_seq, signal });
        for await (const events of batches) {
          if (signal.aborted || events.some(({ type }) => type === "session.deleted")) break;
        }
        break;
      } catch (error) {
        if (DaemonError.is(error) && ENDED.has(error.code)) break;
        // The store is unavailable.
        await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
    this.#sessions.delete(sessionId);
    if (signal.aborted) return;
    await Promise.all(this.list(sessionId).map(async (terminal) => this.remove(terminal)));
  }
}

/** Returns the daemon's environment without its keys, and with the terminal type of the viewers. */
function terminalEnv(): Record<string, string> {
  const env = { ...process.env, TERM: "xterm-256color", COLORTERM: "truecolor" };
  const hidden = new Set<string>(KEY_VARIABLES);
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && !hidden.has(name);
    }),
  );
}
