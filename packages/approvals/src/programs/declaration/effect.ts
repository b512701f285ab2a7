import type { Word } from "./word.ts";

/**
 * What a command does besides reading and writing the paths that it names. A preset allows each of these or asks. The
 * comments say what a command with this effect can cause at worst.
 */
export const ACTIONS = [
  /** Runs code of the project: builds, tests, scripts, plugins and configuration that is code. */
  "project-code",
  /** Fetches packages from the configured registry and runs their install scripts. */
  "install",
  /** Creates files with names that only the archive, patch or commit knows, below a named folder. */
  "unpack",
  /** Changes the local repository through git itself. */
  "git-local",
  /** Fetches from the remotes that the repository has configured. */
  "git-fetch",
  /** Sends commits to the remotes that the repository has configured. */
  "git-push",
  /** Starts, stops or inspects containers without rights over the host. */
  "container",
  /** Signals or inspects processes of the same user. */
  "process",
  /** Reads a remote service with the user's own credentials: `kubectl get`, `gh pr list`, `aws s3 ls`. */
  "remote-read",
  /** Changes a remote service or makes something public. */
  "remote-write",
  /** Changes the machine: services, users, packages of the system. */
  "system",
  /** Prints secrets. */
  "credentials",
] as const;

export type Action = (typeof ACTIONS)[number];

/** One effect of a command. Paths are relative to the folder that the command runs in. */
export type Effect =
  /** A path without text is any file: its name is only known at run time. */
  | { readonly kind: "read"; readonly path: Word }
  /** The program changes to this folder before anything else: all other paths of the call are relative to it. */
  | { readonly kind: "enter"; readonly path: Word }
  /** Creates or changes this file, or an entry of this folder that is named after another operand. */
  | {
      readonly kind: "write";
      readonly path: Word;
      /** Changes the mode of the file, which no file discards as `/dev/null` discards contents. */
      readonly changesMode?: true;
    }
  | { readonly kind: "delete"; readonly path: Word; readonly isRecursive: boolean }
  /** Creates a symbolic or hard link at `path`: later paths through it lead elsewhere. */
  | { readonly kind: "link"; readonly path: Word; readonly target: Word }
  /** Connects to a host or URL, as written. */
  | { readonly kind: "connect"; readonly target: Word; readonly sends: boolean }
  /** Runs another command, which is judged like one that the script itself runs. */
  | { readonly kind: "command"; readonly words: readonly Word[] }
  /** Runs a shell script given as text: judged like an inner script. */
  | { readonly kind: "shell"; readonly script: Word }
  /** Runs a program or script file. */
  | { readonly kind: "execute"; readonly path: Word }
  /** Runs code given in an argument of an interpreter. */
  | { readonly kind: "inline-code"; readonly code: Word }
  /**
   * Runs what it reads from standard input: an interpreter without a script (`python3 -`, `bash`). Understood only if
   * standard input is a literal here-document or a redirected file; `language` says how a here-document is judged.
   */
  | { readonly kind: "stdin-code"; readonly language: "shell" | "other" }
  | { readonly kind: "action"; readonly action: Action };

export function action(name: Action): Effect {
  return { kind: "action", action: name };
}
