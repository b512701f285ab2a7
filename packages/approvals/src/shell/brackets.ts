import { LIMITS } from "../limits.ts";

/** Whether more brackets are open at some point than anybody writes, quoted or not. */
export function opensTooMany(source: string): boolean {
  // Most commands are too short to hold that many.
  if (source.length < LIMITS.brackets) return false;
  let braces = 0;
  let parens = 0;
  let squares = 0;
  for (let at = 0; at < source.length; at += 1) {
    const char = source.charCodeAt(at);
    if (char === 123) braces += 1;
    else if (char === 125) braces = Math.max(0, braces - 1);
    else if (char === 40) parens += 1;
    else if (char === 41) parens = Math.max(0, parens - 1);
    else if (char === 91) squares += 1;
    else if (char === 93) squares = Math.max(0, squares - 1);
    else continue;
    if (braces > LIMITS.brackets || parens > LIMITS.brackets || squares > LIMITS.brackets) return true;
  }
  return false;
}
