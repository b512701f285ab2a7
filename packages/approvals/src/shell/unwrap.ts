import type { NamedValue } from "./invocation.ts";
import type { Value } from "./value.ts";

/** Which language a nested script is in. */
export type ShellKind = "posix" | "powershell" | "cmd" | "other";

/** What a command runs in its turn. */
export type Inner =
  | {
      readonly kind: "command";
      readonly argv: readonly Value[];
      readonly assignments?: readonly NamedValue[];
      /** The folder it runs in, when the wrapper changes it. */
      readonly folder?: Value;
    }
  | {
      readonly kind: "script";
      readonly source: Value;
      readonly shell: ShellKind;
      readonly positional?: readonly Value[];
    }
  /** Code in a language that is not read, or from a place that can't be seen. */
  | { readonly kind: "opaque"; readonly what: string }
  /** A shell or an interpreter that takes its code from stdin. */
  | { readonly kind: "stdin"; readonly shell: ShellKind; readonly what: string };

export interface Unwrapped {
  /** The command does nothing of its own. */
  readonly transparent: boolean;
  readonly inner: readonly Inner[];
}

export type Unwrapper = (args: readonly Value[], name: string) => Unwrapped | undefined;
