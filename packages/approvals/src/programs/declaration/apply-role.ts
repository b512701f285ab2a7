import type { Role } from "./declaration.ts";
import type { Effect } from "./effect.ts";
import type { Word } from "./word.ts";

const NUMBER = /^[+-]?\d+(?:\.\d+)?[a-zA-Z%]{0,3}$/;
const REMOTE = /^[A-Za-z0-9][\w.-]*$/;
const PACKAGE = /^(?:@[\w.-]+\/)?[A-Za-z0-9][\w.-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!^]=?)[\w.^~<>=*+-]*)?$/;

/**
 * Adds the effects of an argument with this role.
 *
 * @returns the problem, if the argument is not understood.
 */
export function applyRole(role: Role, word: Word, effects: Effect[]): string | undefined {
  if (typeof role !== "string") return acceptLiteral(role, word);
  if (role === "data" || role === "pattern") return undefined;
  const { text } = word;
  if (text === undefined) return "an argument is only known at run time";
  if (word.isGlob === true && !acceptsPattern(role)) return `"${text}" is a file name pattern`;
  switch (role) {
    case "number":
      return NUMBER.test(text) ? undefined : `"${text}" is not a number`;
    case "remote":
      return REMOTE.test(text) ? undefined : `"${text}" is not the name of a remote`;
    case "package":
      return PACKAGE.test(text) ? undefined : `"${text}" is not the name of a package in a registry`;
    case "read":
    case "folder":
      if (text !== "-") effects.push({ kind: "read", path: word });
      return undefined;
    case "local-read":
      if (/^[a-z][\w+.@-]*:/i.test(text)) return `"${text}" is an address`;
      if (text !== "-") effects.push({ kind: "read", path: word });
      return undefined;
    case "cwd":
      effects.push({ kind: "enter", path: word });
      return undefined;
    case "output":
      if (text !== "-") effects.push({ kind: "write", path: word });
      return undefined;
    case "write":
      effects.push({ kind: "write", path: word });
      return undefined;
    case "mode":
      effects.push({ kind: "write", path: word, changesMode: true });
      return undefined;
    case "read-write":
      effects.push({ kind: "read", path: word }, { kind: "write", path: word });
      return undefined;
    case "delete":
    case "delete-tree":
      effects.push({ kind: "delete", path: word, isRecursive: role === "delete-tree" });
      return undefined;
    case "host":
    case "url":
      effects.push({ kind: "connect", target: word, sends: false });
      return undefined;
    case "send-host":
    case "send-url":
      effects.push({ kind: "connect", target: word, sends: true });
      return undefined;
    case "script":
      effects.push({ kind: "execute", path: word });
      return undefined;
    case "code":
      effects.push({ kind: "inline-code", code: word });
      return undefined;
    case "shell":
      effects.push({ kind: "shell", script: word });
      return undefined;
    case "command":
      effects.push({ kind: "command", words: [word] });
      return undefined;
  }
}

function acceptLiteral(accepted: RegExp | readonly string[], { text, isGlob }: Word): string | undefined {
  const isAccepted = (candidate: string): boolean =>
    accepted instanceof RegExp ? accepted.exec(candidate)?.[0] === candidate : accepted.includes(candidate);
  if (text !== undefined && isGlob !== true && isAccepted(text)) return undefined;
  const expected = accepted instanceof RegExp ? "not declared" : `none of ${accepted.join(", ")}`;
  return `"${text ?? "…"}" is ${expected}`;
}

/** The shell replaces a pattern with the names that match. Only a path role can be judged by the pattern. */
function acceptsPattern(role: Role): boolean {
  return (
    role === "read" ||
    role === "local-read" ||
    role === "script" ||
    role === "folder" ||
    role === "output" ||
    role === "write" ||
    role === "mode" ||
    role === "read-write" ||
    role === "delete" ||
    role === "delete-tree"
  );
}
