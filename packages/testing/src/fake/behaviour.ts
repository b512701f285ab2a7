/**
 * The behaviour of a fake app-server, as JSON that can be passed to another process. Methods without a rule get a plausible
 * response: `initialize`, `thread/start` and `turn/start` work; all others get `{}`.
 */
export interface FakeBehaviour {
  /** Actions before the first line is read. */
  readonly atStart?: readonly FakeAction[];
  /** Actions per method, instead of the plausible response. */
  readonly on?: Readonly<Record<string, readonly FakeAction[]>>;
  /** Kills the process after it has read this many lines. */
  readonly dieAfterLines?: number;
}

export type FakeAction =
  /** Responds to the current request. */
  | { readonly do: "reply"; readonly result: unknown }
  | { readonly do: "error"; readonly code: number; readonly message: string }
  /** Responds to the current request with its id as a string. */
  | { readonly do: "replyWithStringId"; readonly result: unknown }
  | { readonly do: "notify"; readonly method: string; readonly params: unknown; readonly times?: number }
  /** Sends a request to the client. The response is echoed in a `fake/answered` notification, `{ id, result, error }`. */
  | {
      readonly do: "request";
      readonly id: number | string;
      readonly method: string;
      readonly params: unknown;
    }
  /** Prints text unchanged, such as garbage or half a line. */
  | { readonly do: "print"; readonly text: string }
  /** Prints a `fake/huge` notification of about this many bytes. */
  | { readonly do: "hugeLine"; readonly bytes: number }
  | { readonly do: "stderr"; readonly text: string }
  | { readonly do: "closeStdin" }
  | { readonly do: "closeStdout" }
  /** Waits until the client sends a `fake/go` notification. */
  | { readonly do: "waitForGo" }
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "kill"; readonly signal: NodeJS.Signals }
  /** Never responds. Equivalent to an empty list of actions. */
  | { readonly do: "nothing" };
