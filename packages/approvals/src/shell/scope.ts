import type { CompoundCommand, CompoundList, Redirected } from "unbash";
import { LIMITS } from "../limits.ts";
import type { Places } from "../files/places.ts";
import { derivedValue, UNKNOWN, UNKNOWN_VALUE, type Value } from "./value.ts";

export type FunctionBody = CompoundCommand | Redirected | CompoundList;

/**
 * What a script has said so far: variables, functions, the current folder. A variable keeps every value it was given,
 * because a branch or a loop may decide which one counts; each of them is judged.
 */
export class Scope {
  readonly places: Places;
  /** Bodies that a name may stand for: each definition of it. */
  readonly #functions = new Map<string, FunctionBody[]>();
  /** Names that certainly stand for a function, and not for a program. */
  readonly #certain = new Set<string>();
  /** Names of functions whose bodies are being read: a call of one of these is a recursion. */
  readonly active = new Set<string>();
  /** Files that the script itself writes, with their text when it is known: they may be run later on. */
  readonly written = new Map<string, string | undefined>();
  /** What `alias` has said a name stands for. */
  readonly aliases = new Map<string, string>();
  cwds: readonly string[];
  /** Which of several values is taken now. */
  pick = 0;
  /** How many values the variables of the last word had at most. */
  width = 1;
  /** A variable got a new value after it was read: what was read before has to be read again. */
  stale = false;
  readonly #variables = new Map<string, Value[]>();
  readonly #read = new Set<string>();

  constructor(places: Places) {
    this.places = places;
    this.cwds = [places.cwd];
  }

  define(name: string, body: FunctionBody, certain: boolean): void {
    const bodies = this.#functions.get(name);
    if (bodies === undefined) this.#functions.set(name, [body]);
    else if (bodies.length < LIMITS.variants && !bodies.includes(body)) bodies.push(body);
    if (certain) this.#certain.add(name);
  }

  bodiesOf(name: string): readonly FunctionBody[] {
    return this.#functions.get(name) ?? [];
  }

  isFunction(name: string): boolean {
    return this.#certain.has(name);
  }

  /** `unset -f`: from here on the name may be a program again. */
  forget(name: string): void {
    this.#certain.delete(name);
  }

  assign(name: string, value: Value): void {
    const values = this.#variables.get(name);
    const kept = value.text.length > 4096 ? UNKNOWN_VALUE : value;
    if (values === undefined) this.#variables.set(name, [kept]);
    else if (values.length > LIMITS.variants || values.some(({ text }) => text === kept.text)) return;
    else values.push(kept);
    if (this.#read.has(name)) this.stale = true;
  }

  /** For positional parameters, which belong to one call. Returns what puts the old value back. */
  shadow(name: string, value: Value): () => void {
    const before = this.#variables.get(name);
    this.#variables.set(name, [value]);
    return () => {
      if (before === undefined) this.#variables.delete(name);
      else this.#variables.set(name, before);
    };
  }

  lookup(name: string): Value | undefined {
    this.#read.add(name);
    const values = this.#variables.get(name);
    if (values === undefined) return this.#inherited(name);
    if (values.length > LIMITS.variants) return UNKNOWN_VALUE;
    this.width = Math.max(this.width, values.length);
    return values[Math.min(this.pick, values.length - 1)];
  }

  #inherited(name: string): Value | undefined {
    if (name === "HOME") return derivedValue(this.places.home);
    if (name === "PWD") return derivedValue(this.cwd());
    if (name === "TMPDIR" || name === "TMP" || name === "TEMP") return derivedValue("/tmp");
    if (/^[?#$!-]$/.test(name) || name === "RANDOM" || name === "UID" || name === "LINENO")
      return derivedValue("0");
    return undefined;
  }

  cwd(): string {
    return this.cwds.length === 1 ? (this.cwds[0] ?? UNKNOWN) : UNKNOWN;
  }

  enter(folder: Value | undefined): void {
    if (folder === undefined) this.cwds = [this.places.home];
    else if (folder.text.includes(UNKNOWN) || folder.text === "-") this.cwds = [UNKNOWN];
    else
      this.cwds = this.cwds.map((cwd) =>
        cwd === UNKNOWN && !folder.text.startsWith("/") ? UNKNOWN : this.places.absolute(folder.text, cwd),
      );
  }

  /** After `cd x; …` the folder is the new one, or the old one if `x` was not there. */
  mayStillBeIn(before: readonly string[]): void {
    if (before === this.cwds) return;
    const all = [...new Set([...this.cwds, ...before])];
    this.cwds = all.length > LIMITS.variants ? [UNKNOWN] : all;
  }
}
