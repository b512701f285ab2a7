import { describe, expect, it } from "vitest";
import type { ProgramDeclaration } from "../src/programs/declaration/declaration.ts";
import type { Effect } from "../src/programs/declaration/effect.ts";
import { isNotUnderstood, parseCall } from "../src/programs/declaration/parse-call.ts";
import { literal, type Word } from "../src/programs/declaration/word.ts";

export interface ProgramExamples {
  /** Arguments, and the effects that follow from them in the form of `formatEffect`. */
  readonly understood: Readonly<Record<string, readonly string[]>>;
  /** Arguments that must not be understood. */
  readonly notUnderstood: readonly string[];
}

/**
 * Tests a declaration by examples. Arguments are split at blanks; `'…'` quotes, `<unknown>` represents a word that is known only
 * at run time, and a word with an unquoted `*` is a file name pattern.
 */
export function describeProgram(program: ProgramDeclaration, examples: ProgramExamples): void {
  const name = program.names[0] ?? "";
  describe(`the declaration of ${name}`, () => {
    it.each(Object.entries(examples.understood))(`understands ${name} %s`, (args, effects) => {
      const call = parseCall(program, splitArguments(args));
      expect(isNotUnderstood(call) ? call.problem : call.effects.map(formatEffect)).toEqual(effects);
    });

    it.each(examples.notUnderstood)(`does not understand ${name} %s`, (args) => {
      expect(parseCall(program, splitArguments(args))).toHaveProperty("problem");
    });
  });
}

/** `read src`, `write out`, `delete-tree build`, `connect host`, `send host`, `action project-code`, `command rm x`. */
export function formatEffect(effect: Effect): string {
  switch (effect.kind) {
    case "read":
    case "write":
    case "enter":
    case "execute":
      return `${effect.kind} ${format(effect.path)}`;
    case "delete":
      return `${effect.isRecursive ? "delete-tree" : "delete"} ${format(effect.path)}`;
    case "link":
      return `link ${effect.path.text} to ${effect.target.text}`;
    case "connect":
      return `${effect.sends ? "send" : "connect"} ${effect.target.text}`;
    case "command":
      return `command ${effect.words.map(format).join(" ")}`;
    case "shell":
      return `shell ${effect.script.text}`;
    case "inline-code":
      return `inline-code ${effect.code.text}`;
    case "stdin-code":
      return `stdin-code ${effect.language}`;
    case "action":
      return `action ${effect.action}`;
  }
}

function format({ text }: Word): string {
  return text ?? "<unknown>";
}

function splitArguments(args: string): Word[] {
  return [...args.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => {
    if (quoted !== undefined) return literal(quoted);
    if (plain === "<unknown>") return { text: undefined };
    return plain !== undefined && plain.includes("*") ? { text: plain, isGlob: true } : literal(plain ?? "");
  });
}
