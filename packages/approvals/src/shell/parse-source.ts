import { parse, type ParsedScript } from "unbash";
import { LIMITS } from "../limits.ts";

/**
 * Parses a script. Undefined if that may be expensive: the script is then too long to judge. The parser recovers from errors,
 * which the result lists.
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
 * Matches, in this order: an escape, quotes, a comment, a here-document with a delimiter that all shells read alike, other text.
 * Double quotes with more pieces than their limits allow don't end here, so that the time to match them is bounded.
 */
const TOKEN =
  /\\[^]?|'[^']*'?|"(?<double>(?:[^"\\$`]+|\\[^]|\$\{\w+\}|\$(?![({[])){0,50000})(?<end>"?)|(?<![^\s;&|()])#[^\n]*|<<<|(?<document><<(?<dash>-?)[ \t]*(?:'(?<single>[\w.-]+)'|"(?<quoted>[\w.-]+)"|(?<escape>\\?)(?<plain>[\w.-]+))(?=[\s;&|<>()]|$))|<<|[^\\'"#\n<]+|[^]/y;

/**
 * Determines in linear time whether the parser's time is bounded. Quoted text and here-documents are data and may be long;
 * everything else counts.
 */
function isCheapToParse(source: string): boolean {
  if (source.length > LIMITS.sourceChars) return false;
  // Most commands can't exceed any of the limits.
  if (source.length < LIMITS.brackets) return true;
  const pending: { readonly end: RegExp; readonly expands: boolean }[] = [];
  // The script without comments, quoted text, escaped characters and the bodies of here-documents.
  let syntax = "";
  let [data, expansions, hereDocuments, at] = [0, 0, 0, 0];
  while (at < source.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    let token = match?.[0] ?? "";
    const { double, end, document, dash, single, quoted, escape, plain } = match?.groups ?? {};
    const isOpen = double !== undefined && end === "" && at + token.length < source.length;
    // A substitution in quotes, or a delimiter that shells read differently: all that follows counts as syntax.
    if (token === "<<" || isOpen) {
      token = source.slice(at);
      const documents = (token.match(/(?<!<)<<(?!<)/g) ?? []).length;
      if (documents > 0 && hereDocuments + documents > 1) return false;
      syntax += token;
    } else if (double !== undefined) {
      // The parser takes a slow path for each backslash, so escapes count as syntax.
      data += double.length - 2 * countOf(double, "\\");
      expansions += countOf(double, "$");
    } else if (token.startsWith("'")) data += token.length - 2;
    else if (document !== undefined) {
      hereDocuments += 1;
      const delimiter = (single ?? quoted ?? plain ?? "").replaceAll(".", String.raw`\.`);
      const before = dash === "-" ? "\t*" : "";
      const expands = plain !== undefined && escape === "";
      pending.push({ end: new RegExp(`(?<=\n)${before}${delimiter}(?=\n|$)`, "g"), expands });
    } else if (!/^[\\#]/.test(token)) syntax += token;
    at += token.length;
    for (const body of token === "\n" ? pending.splice(0) : []) {
      body.end.lastIndex = at;
      const start = at;
      at = body.end.test(source) ? body.end.lastIndex : source.length;
      data += at - start;
      if (body.expands) expansions += countOf(source.slice(start, at), "$", "`");
    }
    if (at - data > LIMITS.syntaxChars) return false;
  }
  return (
    ["(", "[", "{"].every((bracket) => countOf(syntax, bracket) <= LIMITS.brackets) &&
    countOf(syntax, "\n", "&", ";", "|") <= LIMITS.separators &&
    expansions + countOf(syntax, "`") <= LIMITS.expansions &&
    hereDocuments <= LIMITS.hereDocuments
  );
}

/** Stops counting once every limit is exceeded. */
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
