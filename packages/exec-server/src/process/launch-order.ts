/** An order to start a process. Files are passed by path: the launcher opens them itself. */
export interface LaunchOrder {
  readonly id: number;
  readonly argv: readonly string[];
  readonly arg0: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Paths for fd 0, 1, 2 and up, each to be opened for reading or writing. `null` is the null device. */
  readonly files: readonly ({ readonly path: string; readonly mode: "r" | "w" } | null)[];
  /**
   * Listeners that the child opens. The environment is then sent by message, so that the programs that run
   * before the child don't get it.
   */
  readonly listeners?: EntryOrder["listeners"] | undefined;
}

/** The first message to the program that opens the listeners in a network namespace. */
export interface EntryOrder {
  readonly env: Readonly<Record<string, string>>;
  readonly listeners: readonly { readonly name: string; readonly port: number }[];
}

/** Announces a listening socket, which is sent with the message. */
export interface ListenerReport {
  readonly id: number;
  readonly listener: string;
}

/** A report of the launcher: a child is running, could not be started, or has ended. */
export type LaunchReport =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly failure: { readonly code: string; readonly errno: number } }
  | {
      readonly id: number;
      readonly exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null };
    };
