import type { Redirection, SyntaxNode } from "unbash";
import { cautioned } from "../finding.ts";
import { expandParts, expandToOne } from "./expand-word.ts";
import { TAINT, type FileRedirect } from "./invocation.ts";
import type { Reading } from "./reading.ts";

/** What redirections do: the files they open, what comes in from where, and the text of it where it is known. */
export interface Redirects {
  readonly files: readonly FileRedirect[];
  readonly taint: number;
  readonly input: string | undefined;
  readonly reads: boolean;
}

/** `runInside` reads what runs inside a word, and gives its taint. */
export function readRedirects(
  redirects: readonly Redirection[],
  reading: Reading,
  runInside: (word: SyntaxNode) => number,
): Redirects {
  const files: FileRedirect[] = [];
  let taint: number = TAINT.none;
  let input: string | undefined;
  let reads = false;
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") {
      const { parts, text } = redirect.body;
      if (redirect.closing === undefined)
        reading.note(cautioned("parse-error", "a here-document without an end"));
      for (const part of parts ?? []) taint |= runInside(part);
      const body = parts === undefined ? text : expandParts(parts, reading.scope);
      input = redirect.operator === "<<-" ? body.replaceAll(/^\t+/gm, "") : body;
      continue;
    }
    if (redirect.target !== undefined) taint |= runInside(redirect.target);
    const target = expandToOne(redirect.target, reading.scope);
    if (redirect.type === "HereString") input = target.text;
    else if (/&/.test(redirect.operator) && !redirect.operator.startsWith("&") && /^\d*-?$/.test(target.text))
      continue;
    else if (redirect.operator === "<") {
      files.push({ mode: "read", target });
      taint |= TAINT.other;
      reads = true;
    } else {
      // zsh reads `>!file` as "write even if it exists".
      files.push({
        mode: "write",
        target: target.text.startsWith("!") ? { ...target, text: target.text.slice(1) } : target,
      });
    }
  }
  return { files, taint, input, reads };
}
