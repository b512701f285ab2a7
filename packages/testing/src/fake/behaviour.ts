/**
 * What a fake app-server does, as data, so that it can travel to another process. Methods without a rule get a plausible
 * answer: `initialize`, `thread/start` and `turn/start` work, anything else is answered `{}`.
 */
export interface FakeBehaviour {
  /** Done before the first line is read. */
  readonly atStart?: readonly FakeAction[];
  /** What happens when a method arrives, instead of the plausible answer. */
  readonly on?: Readonly<Record<string, readonly FakeAction[]>>;
  /** Ends the process, without a word, after it has read this many lines. */
  readonly dieAfterLines?: number;
}

export type FakeAction =
  /** Answers the request at hand. */
  | { readonly do: "reply"; readonly result: unknown }
  | { readonly do: "error"; readonly code: number; readonly message: string }
  /** Answers the request at hand with its id as a string. */
  | { readonly do: "replyWithStringId"; readonly result: unknown }
  | { readonly do: "notify"; readonly method: string; readonly params: unknown; readonly times?: number }
  /** Asks the client something; what it answers is echoed in a notification `fake/answered` `{ id, result, error }`. */
  | {
      readonly do: "request";
      readonly id: number | string;
      readonly method: string;
      readonly params: unknown;
    }
  /** Prints text as it is: garbage, half a line. */
  | { readonly do: "print"; readonly text: string }
  /** Prints one notification `fake/huge` whose line has about this many bytes. */
  | { readonly do: "hugeLine"; readonly bytes: number }
  | { readonly do: "stderr"; readonly text: string }
  | { readonly do: "closeStdin" }
  | { readonly do: "closeStdout" }
  /** Waits until the client sends the notification `fake/go`. */
  | { readonly do: "waitForGo" }
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "kill"; readonly signal: NodeJS.Signals }
  /** No answer, ever. The same as an empty list of actions, said aloud. */
  | { readonly do: "nothing" };
