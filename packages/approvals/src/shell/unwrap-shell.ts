import type { Dialect } from "./plain-script.ts";
import { shellName, splitShell } from "./split-shell.ts";

/** The script that Codex wants to run and the shell that reads it, or the words of a program without a shell. */
export type Unwrapped =
  | { readonly kind: "script"; readonly script: string; readonly dialect: Dialect }
  | { readonly kind: "words"; readonly words: readonly string[] };

/** Removes the `bash -lc` that Codex puts around every script. Only once, and only in the forms that Codex uses. */
export function unwrapShell(command: string | readonly string[]): Unwrapped {
  if (typeof command !== "string") return unwrapWords(command) ?? { kind: "words", words: command };
  const { shell, script } = splitShell(command);
  const unwrapped = shell === null ? undefined : unwrapWords([...shell.split(" "), script]);
  return unwrapped ?? { kind: "script", script: command, dialect: "unknown" };
}

function unwrapWords(words: readonly string[]): Unwrapped | undefined {
  const [shell = "", option = "", script] = words;
  const name = shellName(shell);
  if (name === undefined || words.length !== 3 || script === undefined || !/^-l?c$/.test(option))
    return undefined;
  return { kind: "script", script, dialect: name === "bash" || name === "zsh" ? name : "unknown" };
}
