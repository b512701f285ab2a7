import type { Word } from "./word.ts";

/**
 * The actions of commands besides reading and writing named paths, ordered from the least consequences to the most, with the
 * reasons of verdicts. A preset allows or asks about each of them.
 */
export const ACTIONS = {
  /** Signals or inspects processes of the same user. */
  process: "controls processes",
  /** Changes the local repository through git itself. */
  "git-local": "changes the local repository",
  /** Builds, tests, scripts, plugins and configuration that is code. */
  "project-code": "runs project code, which can do everything that its sandbox allows",
  /** Creates files below a named folder. */
  unpack: "creates files whose names only an archive or patch knows: trusted like project code",
  /** Starts, stops or inspects containers without rights over the host. */
  container: "controls containers",
  /** Fetches packages from the configured registry and runs their install scripts. */
  install: "installs packages, which run their own code",
  "git-fetch": "fetches from the configured remotes",
  /** Uses the user's own credentials: `kubectl get`, `gh pr list`, `aws s3 ls`. */
  "remote-read": "reads a remote service",
  "git-push": "pushes to the configured remotes",
  /** Changes a remote service, or makes something public. */
  "remote-write": "changes a remote service",
  /** Services, users, packages of the system. */
  system: "changes the machine",
  credentials: "prints secrets",
} as const;

export type Action = keyof typeof ACTIONS;

/** One effect of a command. Paths are relative to the folder that the command runs in. */
export type Effect =
  /** A path without text may be any file: its name is known only at run time. */
  | { readonly kind: "read"; readonly path: Word }
  /** The program first changes to this folder. All other paths of the call are relative to it. */
  | { readonly kind: "enter"; readonly path: Word }
  /** Creates or changes this file, or an entry of this folder that is named after another operand. */
  | {
      readonly kind: "write";
      readonly path: Word;
      /** Changes the mode of the file. `/dev/null` discards contents, but not modes. */
      readonly changesMode?: true;
    }
  | { readonly kind: "delete"; readonly path: Word; readonly isRecursive: boolean }
  /** Creates a symbolic or hard link at `path`: later paths through it have other targets. */
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
   * Runs code from standard input: an interpreter without a script (`python3 -`, `bash`). Understood only if standard input is a
   * literal here-document or a redirected file; `language` says how a here-document is judged.
   */
  | { readonly kind: "stdin-code"; readonly language: "shell" | "other" }
  | { readonly kind: "action"; readonly action: Action };

/** Whether a command runs code that its declaration does not describe: of the project, of a package or in a container. */
export function runsCode(effects: readonly Effect[]): boolean {
  return effects.some((effect) =>
    /^(?:execute|inline-code|stdin-code|project-code|install|container)$/.test(
      effect.kind === "action" ? effect.action : effect.kind,
    ),
  );
}

export function action(name: Action): Effect {
  return { kind: "action", action: name };
}
