import { messageOf } from "@codexkit/rpc/async";
import { join, resolve } from "node:path";
import { compileGlob } from "./glob-matcher.ts";
import { policyRefusal } from "./policy-refusal.ts";

/** The only pattern scheme of Codex 0.166. Patterns are relative to each workspace root. */
const PROJECT_ROOTS = "codex-project-roots://";
const FILE = "file://";

export interface PatternContext {
  readonly cwd: string | undefined;
  readonly workspaceRoots: readonly string[];
}

/** A pattern of files to deny, made absolute. */
export interface DenyPattern {
  /** The folder before the first wildcard; the whole path if there is none. */
  readonly base: string;
  /** Matches paths relative to `base`; undefined if the pattern names `base` itself or everything below it. */
  readonly matches: ((relative: string) => boolean) | undefined;
  /** How many levels below `base` a match can be; undefined if there is no limit. */
  readonly levels: number | undefined;
  /** Whether a file still matches after its folder is moved to another place below `base`. */
  readonly isFloating: boolean;
}

/**
 * Parses a pattern in any form that Codex sends. Throws for unknown schemes, because ignoring a pattern would
 * expose what it denies.
 */
export function parseDenyPattern(pattern: string, context: PatternContext): readonly DenyPattern[] {
  return absolutePatterns(pattern, context).map(compilePattern);
}

function absolutePatterns(pattern: string, { cwd, workspaceRoots }: PatternContext): readonly string[] {
  if (pattern.startsWith(PROJECT_ROOTS)) {
    const relative = pattern.slice(PROJECT_ROOTS.length);
    return workspaceRoots.map((root) => join(escapePattern(root), relative));
  }
  if (pattern.startsWith(`${FILE}/`)) return [resolve(decodeUri(pattern))];
  const scheme = /^(?<name>[A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(pattern)?.groups?.["name"];
  if (scheme !== undefined) throw policyRefusal(`The pattern ${pattern} has the unknown scheme "${scheme}".`);
  if (pattern.startsWith("/")) return [resolve(pattern)];
  if (pattern.startsWith("~"))
    throw policyRefusal(`The pattern ${pattern} refers to the home of another user.`);
  if (cwd === undefined) throw policyRefusal(`The relative pattern ${pattern} needs a working directory.`);
  return [join(escapePattern(cwd), pattern)];
}

function decodeUri(pattern: string): string {
  try {
    return decodeURIComponent(pattern.slice(FILE.length));
  } catch {
    throw policyRefusal(`The pattern ${pattern} is not a valid URI.`);
  }
}

function compilePattern(absolute: string): DenyPattern {
  if (/(?<!\\)(?:\\\\)*\\$/.test(absolute))
    throw policyRefusal(`The pattern ${absolute} ends with a backslash.`);
  // A trailing slash means a folder, which is denied in the same way as a file.
  const components = absolute.replace(/\/+$/, "").split("/").slice(1);
  const first = components.findIndex(isMagic);
  const literal = first === -1 ? components : components.slice(0, first);
  const base = `/${literal.map((part) => part.replaceAll(/\\(.)/gsu, "$1")).join("/")}`;
  const rest = first === -1 ? [] : components.slice(first);
  const nothing = { base, matches: undefined, levels: undefined, isFloating: false };
  if (rest.length === 0 || (rest.length === 1 && rest[0] === "**")) return nothing;
  return {
    base,
    matches: compileMatcher(rest.join("/")),
    levels: rest.some((part) => part.includes("**")) ? undefined : rest.length,
    isFloating: rest.length === 2 && rest[0] === "**" && rest[1]?.includes("**") === false,
  };
}

function compileMatcher(pattern: string): (relative: string) => boolean {
  try {
    return compileGlob(pattern);
  } catch (cause) {
    throw policyRefusal(`The pattern ${pattern} is invalid: ${messageOf(cause)}`);
  }
}

function isMagic(component: string): boolean {
  return /[*?[{]/.test(component.replaceAll(/\\./gsu, ""));
}

function escapePattern(path: string): string {
  return path.replaceAll(/[\\*?[\]{}]/g, String.raw`\$&`);
}
