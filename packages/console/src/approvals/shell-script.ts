/** A command line, split into the shell that Codex wraps it in and the script. */
export interface ShellScript {
  /** Such as `/bin/bash -lc`. Null if the command is shown unchanged. */
  readonly shell: string | null;
  readonly script: string;
}

/**
 * Extracts the script from `/bin/bash -lc '…'` if the rest is exactly one shell word. Otherwise, the command line is not split.
 */
export function splitShell(command: string): ShellScript {
  const [, shell, word] = /^((?:\/\S+\/)?(?:ba|da|z)?sh -l?c) (.+)$/s.exec(command) ?? [];
  const script = word === undefined ? undefined : unquoteWord(word);
  return shell === undefined || script === undefined ? { shell: null, script: command } : { shell, script };
}

/** The value of one shell word. Undefined if the text is not exactly one word. */
function unquoteWord(text: string): string | undefined {
  if (!/^(?:'[^']*'|"(?:[^"\\$`]|\\.)*"|\\.|[\w./:=@%+,-])+$/s.test(text)) return undefined;
  return Array.from(
    text.matchAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([\w./:=@%+,-]+)/gs),
    ([, single, double, escaped, plain]) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "",
  ).join("");
}
