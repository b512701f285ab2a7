import { ESCAPES } from "./escapes.ts";
import { interpreterFor } from "./interpreters.ts";
import type { Invocation } from "./invocation.ts";
import { RUNNERS } from "./runners.ts";
import type { Inner, Unwrapped } from "./unwrap.ts";
import { isUnknown } from "./value.ts";
import { appendInput, WRAPPERS } from "./wrappers.ts";

// Maps, because a program may be called `constructor`.
const wrappers = new Map(Object.entries(WRAPPERS));
const runners = new Map(Object.entries({ ...RUNNERS, ...ESCAPES }));

/** What a command would run in its turn. */
export function unwrapCommand(invocation: Invocation): Unwrapped {
  const { name, argv, isFunction } = invocation;
  const args = argv.slice(1);
  const [first] = argv;
  // An unknown first word may be empty: then the second one is the program.
  const shifted: Inner[] =
    first !== undefined && isUnknown(first) && first.splits && args.length > 0
      ? [{ kind: "command", argv: args }]
      : [];
  if (isFunction) return { transparent: true, inner: shifted };
  let transparent = false;
  const inner = shifted;
  for (const unwrapper of [wrappers.get(name), runners.get(name), interpreterFor(name)]) {
    const result = unwrapper?.(args, name);
    if (result === undefined) continue;
    if (result.transparent) transparent = true;
    for (const item of result.inner) inner.push(withInput(item, invocation));
  }
  return { transparent, inner };
}

/** `xargs` puts words from stdin behind the command, or in place of `{}`. */
function withInput(inner: Inner, { name, argv, input }: Invocation): Inner {
  if (inner.kind !== "command" || (name !== "xargs" && name !== "gxargs")) return inner;
  const mark = replaceMark(argv.map(({ text }) => text));
  if (mark === undefined) return { ...inner, argv: appendInput(inner.argv, input) };
  const text = input?.trim() ?? "\u0000";
  return {
    ...inner,
    argv: inner.argv.map((arg) =>
      arg.text.includes(mark) ? { ...arg, text: arg.text.replaceAll(mark, text), plain: false } : arg,
    ),
  };
}

function replaceMark(words: readonly string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    if (word === "-I" || word === "--replace") return words[index + 1];
    if (word.startsWith("-I")) return word.slice(2);
    if (word.startsWith("--replace=")) return word.slice(10);
    if (word === "-i") return "{}";
  }
  return undefined;
}
