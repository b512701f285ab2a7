import type { Places } from "../files/places.ts";
import { cautioned, type Finding } from "../finding.ts";
import { LIMITS } from "../limits.ts";
import { TAINT, type Invocation } from "./invocation.ts";
import { Scope } from "./scope.ts";

/** Where in the tree of wrappers, pipes and loops a command stands. */
export interface Standing {
  readonly parent: Invocation | undefined;
  /** The taint of stdin, and its text when that is known. */
  readonly feed: number;
  readonly input: string | undefined;
  readonly depth: number;
  /** Runs beside others: in a pipe, in the background. A function that calls itself here is a fork bomb. */
  readonly concurrent: boolean;
  readonly endless: boolean;
  /** May not run at all, or in a shell of its own: what it defines may not be there later. */
  readonly conditional: boolean;
}

export const TOP: Standing = {
  parent: undefined,
  feed: TAINT.none,
  input: undefined,
  depth: 0,
  concurrent: false,
  endless: false,
  conditional: false,
};

/** What has been found in a command line so far, and how much of the limits is used up. */
export class Reading {
  readonly places: Places;
  readonly scope: Scope;
  /** Every simple command, in the order in which it was met. */
  readonly invocations: Invocation[] = [];
  /** What can be said about the text as a whole: it does not parse, it is too long. */
  readonly findings: Finding[] = [];
  #chars = 0;
  #words = 0;

  constructor(places: Places, scope = new Scope(places)) {
    this.places = places;
    this.scope = scope;
  }

  note(finding: Finding): void {
    if (!this.findings.some(({ rule }) => rule === finding.rule)) this.findings.push(finding);
  }

  noteTooDeep(): void {
    this.note(cautioned("too-deep", "commands are nested too deep to be followed"));
  }

  noteTooMany(): void {
    this.note(cautioned("too-large", "too many commands or words to judge each"));
  }

  countWords(count: number): void {
    this.#words += count;
  }

  /** Whether a text of this length may still be parsed. */
  takeChars(length: number): boolean {
    this.#chars += length;
    if (length <= LIMITS.sourceChars && this.#chars <= LIMITS.parsedChars) return true;
    this.note(cautioned("too-large", "the command is too long to be read as a whole"));
    return false;
  }

  /** Past its limits the reader stops, and what it has read so far is never allowed. */
  isExhausted(): boolean {
    if (this.invocations.length < LIMITS.invocations && this.#words < LIMITS.words) return false;
    this.noteTooMany();
    return true;
  }
}
