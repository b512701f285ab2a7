/** What the launcher is told to start. Files are named, not passed: it opens them itself. */
export interface LaunchOrder {
  readonly id: number;
  readonly argv: readonly string[];
  readonly arg0: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Paths for fd 0, 1, 2 and up, each to be read or written; `null` is the null device. */
  readonly files: readonly ({ readonly path: string; readonly mode: "r" | "w" } | null)[];
  /** The doors that the child opens. Its environment then reaches it by message: the programs before it get none. */
  readonly doors?: EntryOrder["doors"] | undefined;
}

/** What the first program in a network of its own is told. */
export interface EntryOrder {
  readonly env: Readonly<Record<string, string>>;
  readonly doors: readonly { readonly name: string; readonly port: number }[];
}

/** A door on its way to the server; the socket itself comes with it. */
export interface DoorReport {
  readonly id: number;
  readonly door: string;
}

/** What the launcher tells: that a child runs, that it could not be started, or that it ended. */
export type LaunchReport =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly failure: { readonly code: string; readonly errno: number } }
  | {
      readonly id: number;
      readonly exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null };
    };
