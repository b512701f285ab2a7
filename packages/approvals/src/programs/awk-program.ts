/** Functions and variables that run commands, read or write files by computed names, or change what is read. */
const FORBIDDEN = new Set(["ARGC", "ARGV", "getline", "system"]);

/** Words after which a slash begins a regular expression, although they look like names. */
const OPERATORS = new Set(["case", "delete", "do", "else", "exit", "in", "print", "printf", "return"]);

type Kind = "end" | "name" | "punctuation" | "regular expression" | "value";

interface Token {
  readonly kind: Kind;
  readonly text: string;
}

const SPACE = /(?:[ \t\r\n]|\\\r?\n|#[^\n]*)+/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
const STRING = /"(?:[^"\\\n]|\\[\s\S])*"/y;
/** In some versions, a slash inside brackets ends the expression: not understood. */
const EXPRESSION = /\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?(?:\[:\w+:\]|[^\][/\\\n]|\\[^\n\]])*\])*\//y;
const PUNCTUATION = /\|\||&&|[-+*/%^<>!=~]=|\+\+|--|>>|\*\*|[-{}()[\];,+*/%^<>!=~?:$&|@]/y;

/**
 * Whether an awk program only prints to standard output: no redirection of `print`, no pipe, no `getline`, no `system`, no
 * indirect call or loaded code (`@`), and no change of the list of files.
 */
export function isHarmlessAwkProgram(program: string): boolean {
  let previous: Token = { kind: "end", text: "" };
  let depth = 0;
  // The bracket depth at which a `print` began. At that depth `>` is a redirection; inside brackets it compares.
  let printDepth: number | undefined;
  for (let at = 0; ;) {
    const space = lengthOf(SPACE, program, at);
    const beginsLine = program.slice(at, at + space).includes("\n");
    at += space;
    if (at >= program.length) return depth === 0;
    const token = readToken(program, at, previous, beginsLine);
    if (token === undefined) return false;
    at += token.text.length;
    previous = token;
    const { kind, text } = token;
    if (kind === "name") {
      if (FORBIDDEN.has(text)) return false;
      if (text === "print" || text === "printf") printDepth = depth;
    }
    if (kind !== "punctuation") continue;
    if (text === "|" || text === "@" || text === "&") return false;
    if (text === "(" || text === "[" || text === "{") depth += 1;
    if (text === ")" || text === "]" || text === "}") depth -= 1;
    if (depth < 0) return false;
    if (printDepth === undefined) continue;
    if ((text === ">" || text === ">>") && depth <= printDepth) return false;
    // A new line does not always end a statement, so it never does here.
    if (text === ";" || depth < printDepth) printDepth = undefined;
  }
}

function readToken(program: string, at: number, previous: Token, beginsLine: boolean): Token | undefined {
  if (program.charAt(at) === "/") {
    const divides = endsOperand(previous);
    // At the beginning of a line it may be the pattern of another rule.
    if (isAmbiguous(previous) || (divides && beginsLine)) return undefined;
    if (!divides) return match("regular expression", EXPRESSION, program, at);
  }
  return (
    match("name", NAME, program, at) ??
    match("value", NUMBER, program, at) ??
    match("value", STRING, program, at) ??
    match("punctuation", PUNCTUATION, program, at)
  );
}

/** After these, a slash divides or begins an expression, depending on the grammar: `if (x) /y/` and `(x) / y`. */
function isAmbiguous({ kind, text }: Token): boolean {
  return (
    text === ")" ||
    text === "$" ||
    text === "length" ||
    text === "++" ||
    text === "--" ||
    kind === "regular expression"
  );
}

function endsOperand({ kind, text }: Token): boolean {
  if (kind === "name") return !OPERATORS.has(text);
  return kind === "value" || text === "]";
}

function match(kind: Kind, pattern: RegExp, program: string, at: number): Token | undefined {
  const length = lengthOf(pattern, program, at);
  return length === 0 ? undefined : { kind, text: program.slice(at, at + length) };
}

function lengthOf(pattern: RegExp, program: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(program)?.[0].length ?? 0;
}
