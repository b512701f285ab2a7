import type { Redirection } from "unbash";
import { notPlain, type FileRedirect, type StandardInput } from "./plain-script.ts";
import { readHereDocumentText, readOneWord, type WordScope } from "./read-word.ts";

interface Redirects {
  readonly files: readonly FileRedirect[];
  readonly input: StandardInput | undefined;
}

/** The delimiters of here-documents that all shells read alike. */
const DELIMITER = /^(?:'[\w.-]+'|"[\w.-]+"|\\?[\w.-]+)$/;

/** Redirections of the descriptors 0 to 2, to files with known names or to each other. */
export function readRedirects(redirects: readonly Redirection[], scope: WordScope): Redirects {
  const files: FileRedirect[] = [];
  let input: StandardInput | undefined;
  for (const redirect of redirects) {
    const { operator } = redirect;
    const usual = operator.startsWith("<") ? 0 : 1;
    const written = redirect.descriptor;
    const descriptor = written?.type === "FileDescriptor" ? written.value : usual;
    if (descriptor > 2 || (written !== undefined && written.type !== "FileDescriptor"))
      notPlain("a redirection of a descriptor other than 0, 1 or 2");
    if ((usual === 0) !== (descriptor === 0))
      notPlain(`the redirection ${operator} of descriptor ${descriptor}`);
    switch (operator) {
      case "<<":
      case "<<-": {
        if (redirect.type !== "HereDoc" || redirect.closing === undefined)
          notPlain("a here-document without an end");
        if (!DELIMITER.test(redirect.delimiter?.text ?? "")) notPlain("this delimiter of a here-document");
        const text = readHereDocumentText(redirect.body, scope);
        input = { kind: "text", text: operator === "<<" ? text : text?.replaceAll(/^\t+/gm, "") };
        break;
      }
      case "<<<": {
        if (redirect.target === undefined) notPlain("a here-string");
        input = { kind: "text", text: readOneWord(redirect.target, scope, "a here-string").text };
        break;
      }
      case "<": {
        const path = readTarget(redirect, scope);
        files.push({ kind: "read", path });
        input = { kind: "file", path };
        break;
      }
      case "&>":
      case "&>>":
      case ">":
      case ">>":
      case ">|":
        // dash runs what comes before `&>` in the background.
        if (operator.startsWith("&") && scope.dialect === "unknown") notPlain(`the redirection ${operator}`);
        files.push({ kind: "write", path: readTarget(redirect, scope) });
        break;
      case ">&":
        // With a name, the target is a file in bash and an error in dash.
        if (!/^[12]$/.test(redirect.target?.text ?? "")) notPlain("the redirection >&");
        break;
      default:
        notPlain(`the redirection ${operator}`);
    }
  }
  return { files, input };
}

function readTarget(redirect: Redirection, scope: WordScope): FileRedirect["path"] {
  if (!("target" in redirect) || redirect.target === undefined) notPlain("a redirection without a target");
  const { text } = redirect.target;
  const path = readOneWord(redirect.target, scope, `a redirection to ${text}`);
  // zsh reads `>! file` and `<1-5>` differently.
  if (path.text === undefined || path.text === "" || /^!|^\d+-\d*$/.test(text))
    notPlain(`a redirection to ${text}`);
  return path;
}
