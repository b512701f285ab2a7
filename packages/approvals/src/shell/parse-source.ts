import { parse, type ParsedScript } from "unbash";
import { LIMITS } from "../limits.ts";
import { retainShape } from "../retain-shape.ts";

/**
 * Parses a script, unless that may be expensive: then it is too long to judge. The parser recovers from errors, which are
 * listed in the result.
 */
export function parseSource(source: string): ParsedScript | undefined {
  if (!isCheapToParse(source)) return undefined;
  try {
    return parse(source);
  } catch (error) {
    // The parser recurses: a script can be nested too deeply for it.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Whether the parser's time is bounded, found in linear time. Quoted text and here-documents are data and may be long;
 * everything else counts.
 */
function isCheapToParse(source: string): boolean {
  if (source.length > LIMITS.sourceChars) return false;
  // Most commands can't exceed any of the limits.
  if (source.length < LIMITS.brackets) return true;
  const measured = measure(source);
  if (measured === undefined) return false;
  const { syntax, expansions, hereDocuments } = measured;
  return (
    ["(", "[", "{"].every((bracket) => countOf(syntax, bracket) <= LIMITS.brackets) &&
    (syntax.match(/[\n&;|]/g) ?? []).length <= LIMITS.separators &&
    expansions + countOf(syntax, "`") <= LIMITS.expansions &&
    hereDocuments <= LIMITS.hereDocuments
  );
}

interface Measured {
  /** The script without comments, quoted text, escaped characters and the bodies of here-documents. */
  readonly syntax: string;
  /** Dollar signs and backticks in quoted text and here-documents. */
  readonly expansions: number;
  readonly hereDocuments: number;
}

/**
 * In this order: an escape, quotes, a comment, a here-document with a delimiter that all shells read alike, other text.
 * Double quotes with more pieces than their limits allow don't end here, so that the time to match them is bounded.
 */
const TOKEN =
  /\\[^]?|'[^']*'?|"(?<double>(?:[^"\\$`]+|\\[^]|\$\{\w+\}|\$(?![({[])){0,50000})(?<end>"?)|(?<![^\s;&|()])#[^\n]*|<<<|(?<document><<(?<dash>-?)[ \t]*(?:'(?<single>[\w.-]+)'|"(?<quoted>[\w.-]+)"|(?<escape>\\?)(?<plain>[\w.-]+))(?=[\s;&|<>()]|$))|<<|[^\\'"#\n<]+|[^]/y;

/** @returns undefined if there is more syntax than may be parsed. */
function measure(source: string): Measured | undefined {
  const pending: { readonly end: RegExp; readonly expands: boolean }[] = [];
  let [syntax, data, expansions, hereDocuments, at] = ["", 0, 0, 0, 0];
  while (at < source.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    const token = match?.[0] ?? "";
    const { double, end, document, dash, single, quoted, escape, plain } = match?.groups ?? {};
    const next = at + token.length;
    if (token === "<<" || (double !== undefined && end === "" && next < source.length)) {
      // A substitution in quotes, or a delimiter that shells read differently: all that follows counts as syntax.
      const rest = source.slice(at);
      const documents = (rest.match(/(?<!<)<<(?!<)/g) ?? []).length;
      if (rest.length + at - data > LIMITS.syntaxChars || (documents > 0 && hereDocuments + documents > 1))
        return undefined;
      return { syntax: syntax + rest, expansions, hereDocuments };
    }
    at = next;
    if (token === "\n") {
      syntax += token;
      for (const body of pending.splice(0)) {
        body.end.lastIndex = at;
        const start = at;
        at = body.end.test(source) ? body.end.lastIndex : source.length;
        data += at - start;
        if (body.expands) expansions += countOf(source.slice(start, at), "$", "`");
      }
    } else if (double !== undefined) {
      // The parser takes a slow path for each backslash, so that escapes count as syntax.
      data += double.length - 2 * countOf(double, "\\");
      expansions += countOf(double, "$");
    } else if (token.startsWith("'")) data += token.length - 2;
    else if (document !== undefined) {
      hereDocuments += 1;
      const delimiter = (single ?? quoted ?? plain ?? "").replaceAll(".", String.raw`\.`);
      pending.push({
        end: new RegExp(`(?<=\n)${dash === "-" ? "\t*" : ""}${delimiter}(?=\n|$)`, "g"),
        expands: plain !== undefined && escape === "",
      });
    } else if (!/^[\\#]/.test(token)) syntax += token;
    if (at - data > LIMITS.syntaxChars) return undefined;
  }
  return { syntax, expansions, hereDocuments };
}

/** Stops where every limit is exceeded. */
function countOf(text: string, ...chars: readonly string[]): number {
  let count = 0;
  for (const char of chars)
    for (
      let at = text.indexOf(char);
      at !== -1 && count <= LIMITS.syntaxChars;
      at = text.indexOf(char, at + 1)
    )
      count += 1;
  return count;
}

retainShape(parse("A=1 b 'c' \"$d\" ${e} *.f $(g) > h | i && j; k <<X\nX\n"));
