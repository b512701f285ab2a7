import type { Finding } from "../finding.ts";
import { UNKNOWN, type Value } from "./value.ts";

/** Where bytes came from, as bits: they flow along pipes and out of substitutions. */
export const TAINT = {
  none: 0,
  /** From the network. */
  download: 1,
  /** Out of a file with keys or passwords. */
  credentials: 2,
  /** Through `base64 -d` and its like: the text in the command says nothing about it. */
  decoded: 4,
  /** Out of the environment, where tokens live. */
  environment: 8,
  /** From anywhere else. */
  other: 16,
  /** The numbers of all processes. */
  processes: 32,
} as const;

export interface FileRedirect {
  readonly mode: "read" | "write";
  readonly target: Value;
}

export interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

/** One simple command that would run, wherever it was hidden. */
export interface Invocation {
  /** All the words, the program's name first. Never empty, unless this is an assignment or a redirection alone. */
  readonly argv: readonly Value[];
  /** The program without its folder, in lower case, without `.exe`; a guess when it can't be known. */
  readonly name: string;
  readonly assignments: readonly NamedValue[];
  readonly redirects: readonly FileRedirect[];
  /** The folders in which it may run. `UNKNOWN` when a `cd` can't be followed. */
  readonly cwds: readonly string[];
  /** What runs it: a shell, `xargs`, `env`, … */
  readonly parent: Invocation | undefined;
  /** The taint of what it reads on stdin. */
  readonly feed: number;
  /** The taint of what substitutions put into its words. */
  readonly inner: number;
  /** What it reads on stdin, when that is written in the command itself. */
  readonly input: string | undefined;
  /** A function of the same script: its body was read where it is called. */
  readonly isFunction: boolean;
  /** Does nothing itself but run what it wraps. */
  wraps: boolean;
  /** What the command itself adds to the taint. */
  taint: number;
  readonly findings: Finding[];
}

/**
 * `/usr/bin/RM.exe` → `rm`: what a safety check looks for, whatever the file system makes of cases. What is unknown
 * in the name may be empty, as in `r$@m`.
 */
export function programName(value: Value | undefined): string {
  if (value === undefined) return "";
  const text = value.text.replaceAll(UNKNOWN, "");
  const base = text.slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1);
  return base.toLowerCase().replace(/\.(?:exe|com|cmd|bat)$/, "");
}
