import type { Role } from "./declaration.ts";
import type { Effect } from "./effect.ts";
import type { NotUnderstood } from "./parsed-call.ts";
import type { Word } from "./word.ts";

const NONE: readonly Effect[] = [];

/** The effects of an argument with this role, or what about it is not understood. */
export function applyRole(role: Role, word: Word): readonly Effect[] | NotUnderstood {
  if (typeof role !== "string") return acceptLiteral(role, word);
  if (role === "data" || role === "pattern") return NONE;
  const { text } = word;
  if (text === undefined) return { problem: "an argument is only known at run time" };
  if (word.isGlob === true && !acceptsPattern(role)) return { problem: `"${text}" is a file name pattern` };
  switch (role) {
    case "number":
      return /^[+-]?\d+(?:\.\d+)?[a-zA-Z%]{0,3}$/.test(text)
        ? NONE
        : { problem: `"${text}" is not a number` };
    case "read":
    case "folder":
      return text === "-" ? NONE : [{ kind: "read", path: word }];
    case "cwd":
      return [{ kind: "enter", path: word }];
    case "output":
      return text === "-" ? NONE : [{ kind: "write", path: word }];
    case "write":
      return [{ kind: "write", path: word }];
    case "read-write":
      return [
        { kind: "read", path: word },
        { kind: "write", path: word },
      ];
    case "delete":
      return [{ kind: "delete", path: word, isRecursive: false }];
    case "delete-tree":
      return [{ kind: "delete", path: word, isRecursive: true }];
    case "host":
    case "url":
      return [{ kind: "connect", target: word, sends: false }];
    case "send-host":
    case "send-url":
      return [{ kind: "connect", target: word, sends: true }];
    case "remote":
      return /^[A-Za-z0-9][\w.-]*$/.test(text) ? NONE : { problem: `"${text}" is not the name of a remote` };
    case "package":
      return /^(?:@[\w.-]+\/)?[A-Za-z0-9][\w.-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!^]=?)[\w.^~<>=*+-]*)?$/.test(
        text,
      )
        ? NONE
        : { problem: `"${text}" is not the name of a package in a registry` };
    case "script":
      return [{ kind: "execute", path: word }];
    case "code":
      return [{ kind: "inline-code", code: word }];
    case "shell":
      return [{ kind: "shell", script: word }];
    case "command":
      return [{ kind: "command", words: [word] }];
  }
}

function acceptLiteral(
  accepted: RegExp | readonly string[],
  { text, isGlob }: Word,
): readonly Effect[] | NotUnderstood {
  const isAccepted = (candidate: string): boolean =>
    accepted instanceof RegExp ? accepted.exec(candidate)?.[0] === candidate : accepted.includes(candidate);
  if (text !== undefined && isGlob !== true && isAccepted(text)) return NONE;
  const expected = accepted instanceof RegExp ? "not declared" : `none of ${accepted.join(", ")}`;
  return { problem: `"${text ?? "…"}" is ${expected}` };
}

/** The shell replaces a pattern by the names that match: only a role about paths can be judged by the pattern. */
function acceptsPattern(role: Role): boolean {
  return (
    role === "read" ||
    role === "folder" ||
    role === "output" ||
    role === "write" ||
    role === "read-write" ||
    role === "delete" ||
    role === "delete-tree"
  );
}
