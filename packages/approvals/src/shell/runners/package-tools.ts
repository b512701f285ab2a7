import { readOptions, type OptionSyntax } from "../options.ts";
import type { Inner, Unwrapper } from "../unwrap.ts";
import type { Value } from "../value.ts";

/** `npx pkg args`, `pnpm exec x`, `uv run x`, `bundle exec x`: the rest is a command of the project's own tools. */
export function behind(words: Readonly<Record<string, OptionSyntax>>): Unwrapper {
  return (args) => {
    const outer = readOptions(args, {
      stopsAtOperand: true,
      short: "CFw",
      long: ["--dir", "--filter", "--workspace", "--cwd", "--prefix", "--directory"],
    });
    const [verb, ...rest] = outer.operands;
    const syntax = words[verb?.text ?? ""];
    if (syntax === undefined) return { transparent: false, inner: [] };
    return { transparent: false, inner: called(rest, syntax) };
  };
}

/** `npm pkg set scripts.x="…"` writes a command line that the next `npm run` takes. */
export function npmScripts(args: readonly Value[]): ReturnType<Unwrapper> {
  if (args[0]?.text !== "pkg" || args[1]?.text !== "set") return undefined;
  const inner = args.flatMap((arg): Inner[] => {
    const line = /^scripts(?:\.[^=]*|\[[^=]*)=(.*)$/s.exec(arg.text)?.[1];
    return line === undefined ? [] : [{ kind: "script", source: { ...arg, text: line }, shell: "posix" }];
  });
  return { transparent: false, inner };
}

export const CALL: OptionSyntax = { short: "cpw", long: ["--call", "--package", "--workspace"] };

export const npx: Unwrapper = (args) => ({ transparent: false, inner: called(args, CALL) });

/** A line after `-c` or `--call`, or the words as they are. */
function called(args: readonly Value[], syntax: OptionSyntax): Inner[] {
  const { operands, values } = readOptions(args, { ...syntax, stopsAtOperand: true });
  const line = values.get("c")?.[0] ?? values.get("--call")?.[0];
  if (line !== undefined) return [{ kind: "script", source: line, shell: "posix" }];
  return operands.length === 0 ? [] : [{ kind: "command", argv: operands }];
}
