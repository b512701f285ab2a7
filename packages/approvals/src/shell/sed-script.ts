/** What a sed script does besides editing: runs commands, writes files. */
export interface SedScript {
  readonly runs: boolean;
  readonly writes: readonly string[];
}

const ADDRESS = /(?:\d+|\$|[,!~+\s])+/y;

/** Reads a sed script command by command, because any character may stand between the parts of `s`. */
export function readSedScript(text: string): SedScript {
  const writes: string[] = [];
  let runs = false;
  let at = 0;
  const until = (end: RegExp): string => {
    const rest = text.slice(at);
    const stop = rest.search(end);
    at = stop === -1 ? text.length : at + stop;
    return (stop === -1 ? rest : rest.slice(0, stop)).trim();
  };
  /** Steps behind the next delimiter that has no backslash before it. */
  const past = (delimiter: string): void => {
    while (at < text.length && text[at] !== delimiter) at += text[at] === "\\" ? 2 : 1;
    at += 1;
  };
  while (at < text.length) {
    const char = text[at] ?? "";
    if (/[\s;{}]/.test(char)) at += 1;
    else if (/[\d$,!~+]/.test(char)) {
      ADDRESS.lastIndex = at;
      at += ADDRESS.exec(text)?.[0].length ?? 1;
    } else if (char === "/" || char === "\\") {
      const delimiter = char === "/" ? "/" : (text[at + 1] ?? "");
      at += char === "/" ? 1 : 2;
      past(delimiter);
      while (/[IM]/.test(text[at] ?? "")) at += 1;
    } else {
      at += 1;
      if (char === "s" || char === "y") {
        const delimiter = text[at] ?? "";
        at += 1;
        past(delimiter);
        past(delimiter);
        const flags = /^[gpiImM\de]*/.exec(text.slice(at))?.[0] ?? "";
        at += flags.length;
        if (char === "s" && flags.includes("e")) runs = true;
        if (text[at] === "w") {
          at += 1;
          writes.push(until(/\n/));
        }
      } else if (char === "e") {
        runs = true;
        until(/\n/);
      } else if (char === "w" || char === "W") writes.push(until(/\n/));
      else if (/[aicrR#]/.test(char)) {
        // Text to add, a file to read, a comment: none of it is a command, up to a line without a backslash at its end.
        until(/(?<!\\)\n/);
      } else if (/[:btT]/.test(char)) until(/[;\n}]/);
    }
  }
  return { runs, writes };
}
