import { parse, type ParsedScript } from "unbash";
import { retainShape } from "../retain-shape.ts";
import { measureSource } from "./measure-source.ts";

/** A script as it is parsed, or why it can't be. */
export type ParsedSource =
  | { readonly script: ParsedScript }
  | { readonly script: undefined; readonly problem: string };

/** Parses a script if it is cheap to parse. The parser recovers from errors: a script with any has no meaning. */
export function parseSource(source: string): ParsedSource {
  const tooLong = measureSource(source);
  if (tooLong !== undefined) return { script: undefined, problem: tooLong };
  try {
    return { script: parse(source) };
  } catch (error) {
    // The parser recurses: a script can be nested too deeply for it.
    if (error instanceof RangeError) return { script: undefined, problem: "too long to judge" };
    throw error;
  }
}

retainShape(parse("A=1 b 'c' \"$d\" ${e} *.f $(g) > h | i && j; k <<X\nX\n"));
