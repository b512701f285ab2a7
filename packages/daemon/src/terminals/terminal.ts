import { SerialQueue, withTimeout } from "@codexkit/rpc/async";
import type { TerminalMessage, TerminalSummary } from "../api/terminal.ts";
import { newId } from "../database/ids.ts";
import { DaemonError } from "../errors.ts";
import type { TerminalLimits } from "./limits.ts";
import { OutputLog } from "./output-log.ts";
import { Screen, type ScreenSnapshot } from "./screen.ts";
import type { HostedProgram, TerminalHost } from "./terminal-host.ts";
import { Viewer, type ViewerSocket, type ViewerSource } from "./viewer.ts";

export interface TerminalOptions {
  readonly sessionId: string;
  readonly by: string;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

/** A program on a PTY with its screen. The output is always processed, even without viewers. */
export class Terminal implements ViewerSource {
  readonly id = newId();
  readonly sessionId: string;
  readonly log: OutputLog;
  readonly #options: TerminalOptions;
  readonly #limits: TerminalLimits;
  readonly #host: TerminalHost;
  readonly #screen: Screen;
  readonly #viewers = new Map<string, Viewer>();
  readonly #input = new SerialQueue();
  readonly #resizes = new SerialQueue();
  readonly #createdAt = Date.now();
  #program: HostedProgram | undefined;
  #writer: Viewer | undefined;
  #unreadInput = 0;
  /** The output after this offset belongs to the current size. */
  #resizedAt = 0;
  #wantedSize: { readonly columns: number; readonly rows: number };
  #end: { readonly exitCode: number | null } | undefined;
  readonly #ended = Promise.withResolvers<void>();

  private constructor(options: TerminalOptions, host: TerminalHost, limits: TerminalLimits) {
    this.sessionId = options.sessionId;
    this.log = new OutputLog(limits.replayBytes);
    this.#options = options;
    this.#limits = limits;
    this.#host = host;
    const { columns, rows } = options;
    this.#wantedSize = { columns, rows };
    this.#screen = new Screen({ columns, rows, scrollback: limits.scrollback });
  }

  /** Resolves when the program has started. */
  static async start(
    options: TerminalOptions,
    host: TerminalHost,
    limits: TerminalLimits,
  ): Promise<Terminal> {
    const terminal = new Terminal(options, host, limits);
    const { command, cwd, env, columns, rows } = options;
    const onOutput = (bytes: Buffer): void => terminal.#receive(bytes);
    terminal.#program = await host.start({ command, cwd, env, columns, rows, onOutput });
    void terminal.#program.ended.then(
      ({ exitCode }) => terminal.#finish(exitCode),
      () => terminal.#finish(null),
    );
    return terminal;
  }

  get end(): { readonly exitCode: number | null } | undefined {
    return this.#end;
  }

  /** Resolves when the program has ended. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get summary(): TerminalSummary {
    const { sessionId, command, by } = this.#options;
    return {
      id: this.id,
      sessionId,
      command: [...command],
      ...this.#screen.size,
      state: this.#end ? "ended" : "running",
      exitCode: this.#end?.exitCode ?? null,
      createdAt: this.#createdAt,
      by,
      viewers: this.#viewers.size,
      writer: this.#writer?.id ?? null,
      offset: this.log.end,
    };
  }

  async snapshot(): Promise<ScreenSnapshot> {
    return this.#screen.snapshot();
  }

  /** Adds a viewer, which receives the screen, or the output after an offset that it already has. */
  attach(
    socket: ViewerSocket,
    { canWrite, after }: { canWrite: boolean; after: number | undefined },
  ): Viewer {
    if (this.#viewers.size >= this.#limits.viewers) {
      throw new DaemonError(
        "too_many_connections",
        `The terminal already has ${this.#viewers.size} viewers.`,
        {
          details: { retryAfter: 5 },
        },
      );
    }
    const { start, end } = this.log;
    const isResumed = after !== undefined && after >= Math.max(start, this.#resizedAt) && after <= end;
    const viewer = new Viewer(
      { id: newId(), canWrite, socket, after: isResumed ? after : undefined },
      this,
      this.#limits.unsentBytes,
    );
    this.#viewers.set(viewer.id, viewer);
    const writer = this.#writer?.id ?? null;
    socket.send({ type: "attached", viewerId: viewer.id, canWrite, writer, resumed: isResumed });
    viewer.pump();
    return viewer;
  }

  detach(viewer: Viewer): void {
    viewer.stop();
    this.#viewers.delete(viewer.id);
    if (this.#writer === viewer) this.#setWriter(undefined);
  }

  /** Handles a message from a viewer. Throws `forbidden` or `not_writer`. */
  receive(viewer: Viewer, message: TerminalMessage): void {
    if (!viewer.canWrite) {
      throw new DaemonError("forbidden", 'Input requires a token with the scope "write".');
    }
    if (message.type === "takeWriter") return this.#setWriter(viewer);
    if (this.#writer !== viewer) {
      throw new DaemonError("not_writer", "This viewer is not the writer. Send `takeWriter` first.");
    }
    switch (message.type) {
      case "releaseWriter":
        return this.#setWriter(undefined);
      case "input":
        return this.#write(message.data, viewer);
      case "resize":
        return this.#resize(message.columns, message.rows);
    }
  }

  /** Ends the program and its processes, except detached processes whose parents have ended. */
  async kill(): Promise<void> {
    const kill = async (): Promise<void> => {
      await this.#program?.kill();
      // Resumes reading, because the end of the program and its last output have to be received.
      this.#host.pause(this, false);
      await this.ended;
    };
    await withTimeout(
      kill(),
      this.#limits.killMs,
      () => new Error("The terminal did not end in time."),
    ).catch(() => this.#finish(null));
  }

  #receive(bytes: Buffer): void {
    this.log.append(bytes, this.#screen.parsed);
    this.#screen.write(bytes, () => this.#updatePause());
    this.#updatePause();
    for (const viewer of this.#viewers.values()) viewer.pump();
  }

  #updatePause(): void {
    const unparsed = this.log.end - this.#screen.parsed;
    const { unparsedBytes } = this.#limits;
    if (unparsed > unparsedBytes) this.#host.pause(this, true);
    else if (unparsed < unparsedBytes / 2) this.#host.pause(this, false);
  }

  #setWriter(viewer: Viewer | undefined): void {
    if (this.#writer === viewer) return;
    this.#writer = viewer;
    const viewerId = viewer?.id ?? null;
    for (const each of this.#viewers.values()) each.reportWriter(viewerId);
  }

  #write(data: string, { socket }: Viewer): void {
    const { unreadInputBytes } = this.#limits;
    const bytes = Buffer.byteLength(data);
    this.#unreadInput += bytes;
    if (this.#unreadInput > unreadInputBytes) socket.pause(true);
    void this.#input
      .run(() => this.#program?.write(data))
      // The program no longer accepts input. Its end is reported separately.
      .catch(() => {})
      .finally(() => {
        this.#unreadInput -= bytes;
        if (this.#unreadInput <= unreadInputBytes / 2) socket.pause(false);
      });
  }

  /** If several changes are waiting, only the last one is applied. */
  #resize(columns: number, rows: number): void {
    const wanted = { columns, rows };
    this.#wantedSize = wanted;
    void this.#resizes
      .run(async () => {
        if (this.#wantedSize !== wanted || this.#end) return;
        await this.#program?.resize(columns, rows);
        this.#resizedAt = await this.#screen.resize(columns, rows);
        for (const viewer of this.#viewers.values()) viewer.requestScreen();
      })
      // The program has ended in the meantime.
      .catch(() => {});
  }

  #finish(exitCode: number | null): void {
    if (this.#end) return;
    this.#host.pause(this, false);
    this.#end = { exitCode };
    for (const viewer of this.#viewers.values()) viewer.pump();
    this.#ended.resolve();
  }
}
