import { LIMITS } from "../limits.ts";

const BACKSLASH = "\\";

/**
 * The part of a text that is worth parsing: up to the point where it holds more words than are ever judged. Parsing costs
 * far more than this count, and what comes after would not be looked at. Quotes are only guessed at: whoever misleads the
 * guess gets a longer parse, or a part that is not allowed because it is one.
 */
export function readablePart(source: string): string {
  // A here-document is data, of any length.
  if (source.length < LIMITS.parsedWords || source.includes("<<")) return source;
  let words = 0;
  let inWord = false;
  let quote = "";
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at] ?? "";
    if (char === BACKSLASH && quote !== "'") {
      at += 1;
      continue;
    }
    if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) quote = char;
    const substitution = quote !== "'" && (char === "`" || (char === "$" && source[at + 1] === "("));
    const between = quote === "" && /[\s;|&()<>]/.test(char);
    if (substitution || (!between && !inWord)) words += 1;
    inWord = !between;
    if (words > LIMITS.parsedWords) return source.slice(0, at);
  }
  return source;
}
