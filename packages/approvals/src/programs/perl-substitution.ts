/**
 * Letters that mean themselves, and the operators of regular expressions that run no code. A bracket, a brace or an arrow after a
 * variable begins a subscript, which is code: `$1[system("id")]`.
 */
const PLAIN_PATTERN = /^(?:[^\\$@(]|\\[^\n]|\((?!\?)|\(\?[:=!<#]|\$(?=$|[)|])|\$\d+(?![\d[{]|->))*$/;
/** Here every `$` begins a variable, including `$)` and `$|`. */
const PLAIN_REPLACEMENT = /^(?:[^\\$@]|\\[^\n]|\$\d+(?![\d[{]|->))*$/;

const STATEMENT = /^\s*(?:s|tr|y)\b/;

/**
 * Whether a Perl one-liner consists of substitutions and transliterations alone, without code in them: no flag `e`, no
 * interpolated variable but `$1` to `$9`, no `(?{ … })`.
 */
export function isPlainPerlSubstitution(code: string): boolean {
  let rest = code;
  while (rest.trim() !== "") {
    if (!STATEMENT.test(rest)) return false;
    const match = /^\s*(s|tr|y)([/|#!,~])/.exec(rest);
    if (match === null) return false;
    const [head, command = "", delimiter = ""] = match;
    const pattern = readPart(rest, head.length, delimiter);
    if (pattern === undefined) return false;
    const replacement = readPart(rest, pattern.end, delimiter);
    if (replacement === undefined) return false;
    const flags = /^([a-z]*)\s*(?:;|$)/.exec(rest.slice(replacement.end));
    const allowed = command === "s" ? /^[gimsx]*$/ : /^[cdsr]*$/;
    if (flags === null || !allowed.test(flags[1] ?? "")) return false;
    if (!PLAIN_PATTERN.test(pattern.text) || !PLAIN_REPLACEMENT.test(replacement.text)) return false;
    rest = rest.slice(replacement.end + flags[0].length);
  }
  return code.trim() !== "";
}

/** Reads up to an unescaped delimiter. */
function readPart(text: string, start: number, delimiter: string): { text: string; end: number } | undefined {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === delimiter) return { text: text.slice(start, at), end: at + 1 };
  }
  return undefined;
}
