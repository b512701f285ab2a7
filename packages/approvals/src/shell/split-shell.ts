/** A command line, split into the shell around it and its script. */
export interface ShellScript {
  /** Such as `/bin/bash -lc`. Null if the command line is not split. */
  readonly shell: string | null;
  readonly script: string;
}

/**
 * Matches the shells that Codex puts around scripts. A program that the agent can write must not pass for a shell, whatever its
 * name, so only folders of the system and of Homebrew are matched.
 */
const SHELL = /^(?:\/(?:usr\/(?:local\/)?)?bin\/|\/opt\/homebrew\/bin\/)?(bash|sh|dash|zsh)$/;
const CALL = /^(\S+) +(-l?c) +(?=\S)/;

/**
 * Removes the shell that Codex puts around a script, such as `/bin/bash -lc '…'`. The rest must be exactly one shell word.
 * Otherwise, the command line is returned unchanged. Policies and all displays of a command use this rule.
 */
export function splitShell(command: string): ShellScript {
  const [start = "", program = "", option = ""] = CALL.exec(command) ?? [];
  const script =
    shellName(program) === undefined
      ? undefined
      : unquote(command.slice(start.length).replace(/(?<! ) +$/, ""));
  return script === undefined ? { shell: null, script: command } : { shell: `${program} ${option}`, script };
}

/** Returns the name of a shell that Codex puts around scripts. Undefined for other programs. */
export function shellName(program: string): string | undefined {
  return SHELL.exec(program)?.[1];
}

/** Codex quotes a script like shlex does: `'it'"'"'s'`. People write `"npm test"`. */
const PIECE = /'([^']*)'|"([^"\\$`]*(?:\\["\\$`][^"\\$`]*)*)"|\\(')|([\w./@%+=:,-]+)/gy;
/** Maximum number of quoted pieces of a script, which has one per quote in it. */
const MOST_PIECES = 10_000;

/** The text of one quoted word. Undefined if the text contains anything else. Takes linear time. */
export function unquote(word: string): string | undefined {
  let text = "";
  let end = 0;
  let pieces = 0;
  for (const [piece, single, double, escaped, plain] of word.matchAll(PIECE)) {
    pieces += 1;
    if (pieces > MOST_PIECES) return undefined;
    text += single ?? double?.replaceAll(/\\(.)/g, "$1") ?? escaped ?? plain ?? "";
    end += piece.length;
  }
  return end === word.length ? text : undefined;
}
