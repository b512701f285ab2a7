import { ESCAPABLE, ESCAPES } from "./escapes.ts";
import { interpreterFor } from "./interpreters.ts";
import { TAINT, type Invocation } from "./invocation.ts";
import { RUNNERS } from "./runners.ts";
import type { Inner, Unwrapped } from "./unwrap.ts";
import { isUnknown, plainValue } from "./value.ts";
import { appendInput, WRAPPERS } from "./wrappers.ts";

// Maps, because a program may be called `constructor`.
const wrappers = new Map(Object.entries(WRAPPERS));
const runners = new Map(Object.entries(RUNNERS));
const escapes = new Map(Object.entries(ESCAPES));

const GIT_PROGRAM =
  /^git-(reset|push|send-pack|http-push|worktree|clean|checkout|checkout-index|read-tree|restore|switch|stash|filter-branch|gc|prune|reflog|update-ref|config|submodule|bisect|rebase|fast-import|clone|fetch|fetch-pack|pull|rm|maintenance)$/;

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
  // git's commands are programs of their own as well: `git-reset`.
  const verb = GIT_PROGRAM.exec(name)?.[1];
  if (verb !== undefined)
    inner.push({ kind: "command", argv: [plainValue("git"), plainValue(verb), ...args] });
  for (const unwrapper of [wrappers.get(name), runners.get(name), escapes.get(name), interpreterFor(name)]) {
    const result = unwrapper?.(args, name);
    if (result === undefined) continue;
    if (result.transparent) transparent = true;
    for (const item of result.inner) inner.push(withInput(item, invocation));
  }
  // Without a command a shell waits at the other end for what it is fed.
  if (
    name === "ssh" &&
    inner.length === 0 &&
    (invocation.input !== undefined || invocation.feed !== TAINT.none)
  )
    inner.push({ kind: "stdin", shell: "posix", what: "a shell behind ssh" });
  if ((invocation.feed & TAINT.download) !== 0 && ESCAPABLE.test(name))
    inner.push({ kind: "stdin", shell: "other", what: `${name} code` });
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
    if (word === "-I") return words[index + 1];
    if (word.startsWith("-I")) return word.slice(2);
    if (word.startsWith("--replace=")) return word.slice(10);
    if (word === "-i" || word === "--replace") return "{}";
  }
  return undefined;
}
