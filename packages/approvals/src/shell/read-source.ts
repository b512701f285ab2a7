import type { Places } from "../files/places.ts";
import { Reading } from "./reading.ts";
import { ScriptReader } from "./script-reader.ts";
import type { Value } from "./value.ts";

/** Finds every simple command in a command line, however deep it is hidden. Never throws, and keeps to its limits. */
export function readSource(source: string, places: Places): Reading {
  const first = new Reading(places);
  new ScriptReader(first).readWhole(source);
  if (!first.scope.stale) return first;
  // A variable changed after it was used, in a loop or a function: read again with all its values at hand.
  const second = new Reading(places, first.scope);
  second.scope.cwds = [places.cwd];
  new ScriptReader(second).readWhole(source);
  return second;
}

/** The same for a list of arguments, with which no shell has to do. */
export function readArgv(argv: readonly Value[], places: Places): Reading {
  const reading = new Reading(places);
  new ScriptReader(reading).readArgv(argv);
  return reading;
}
