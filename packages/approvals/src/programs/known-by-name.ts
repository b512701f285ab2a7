import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { isCheckedProgram } from "./catastrophic.ts";

// The behaviour of programs by their names alone, for scripts that are not understood, in which only words can be recognised.

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Programs that fetch files. */
export const DOWNLOADERS = names("aria2c curl fetch http https lynx wget xh");

/** Interpreters, which run code from arguments, files or standard input. */
export const INTERPRETERS =
  /^(?:ba|z|da|k|fi|c|tc|a)?sh$|^(?:python|node|perl|ruby|php|lua|deno|bun|tclsh|osascript|pwsh|powershell)[\d.]*$/;

/** Programs that send data somewhere. */
export const SENDERS = names(
  "aws curl ftp gh gsutil mail mutt nc ncat netcat rsync scp sendmail sftp socat ssh telnet tftp wget",
);

/** Programs that run a command or script in their arguments, besides interpreters. */
const RUNNERS = names(
  ". at batch builtin busybox command env eval exec find nice nohup parallel screen script setsid source ssh time " +
    "timeout tmux trap unshare watch xargs",
);

/** Programs that only print or search the text of their arguments. */
export const PRINTERS = names("[ awk cat echo git grep man printf rg sed test type which");

/** git commands that run an argument. */
const GIT_RUNNERS = names("bisect filter-branch rebase submodule");

/** Programs that write to all of their operands, and programs that write to the last one. */
const WRITES_ALL = names("chmod chown ln mkdir rm rmdir shred tee touch truncate unlink");
const WRITES_LAST = names("cp install mv rsync");

const WRITERS: ReadonlySet<string> = new Set([...WRITES_ALL, ...WRITES_LAST]);

/** Programs that are dangerous only with certain arguments, so their bare name among other words means nothing. */
const DANGEROUS_BY_ARGUMENTS = names("chmod chown dd find git rm");

/** Whether a word names a program that runs its arguments. */
export function runsArguments(word: string): boolean {
  const name = baseName(word);
  return RUNNERS.has(name) || INTERPRETERS.test(name);
}

/** Whether the words after a command's name may be another command. */
export function mayRunArguments(words: readonly (string | undefined)[]): boolean {
  const name = baseName(words[0] ?? "");
  if (name !== "git") return !PRINTERS.has(name);
  // `-c alias.x='!command'`.
  return words.some((word = "") => GIT_RUNNERS.has(word) || /^[\w.-]+=!?\S+\s/.test(word));
}

/** The arguments that may be or contain a script. */
export function scriptsIn([first = "", ...args]: readonly string[], isGuess: boolean): readonly string[] {
  // Keeps the value of `--option=value` and `-Svalue`.
  const withoutOption = (text: string): string =>
    text.replace(/^(?:--?[\w-]+=|[\w.-]+=!|-[A-Za-z](?=[a-z]))/, "");
  if (!isGuess) return args.filter((word) => /[\s;|&]/.test(word)).map(withoutOption);
  const texts = args.filter((word) => /\s/.test(word));
  if (!/^(?:awk|sed)$/.test(baseName(first)))
    return mayRunArguments([first, ...args]) ? texts.map(withoutOption) : [];
  return texts.flatMap((text) =>
    text.length > LIMITS.syntaxChars
      ? [text]
      : Array.from(
          text.matchAll(/"([^"\s]*\s[^"]*)"|\/([^/\s]*\s[^/]*)\/|(?:^|[\d$;{\n])[ \t]{0,8}e\s([^\n]*)/g),
          ([, one, other, third]) => one ?? other ?? third ?? "",
        ),
  );
}

/** Whether a command runs its standard input, as an interpreter without a script does. */
export function runsInput(words: readonly string[]): boolean {
  const at = words.findIndex((word) => INTERPRETERS.test(baseName(word)));
  if (at === -1) return false;
  const args = words.slice(at + 1);
  // `xargs sh -c` and `xargs -I{} sh -c {}` run their input.
  if (words[0] === "xargs" && /^-\w*c$/.test(args[0] ?? "") && /^(?:\{\}|%)?$/.test(args[1] ?? ""))
    return true;
  if (args.some((arg) => /^-\w*[cem]$/.test(arg))) return false;
  return (
    args.every((arg) => arg.startsWith("-")) ||
    args.some((arg) => /^-\w*s$/.test(arg) || arg === "/dev/stdin")
  );
}

/** A command may start at every word that names a checked program: `env -i rm -rf /`. */
export function possibleCalls(words: readonly string[]): readonly (readonly string[])[] {
  const [first = ""] = words;
  if (PRINTERS.has(baseName(first))) return [words];
  // The bare name of a program is enough only after a program that runs its arguments: `pytest -k sudo` is harmless.
  const isRunner = runsArguments(first) || !/^[\w.+-]+$/.test(first);
  return words.flatMap((word, index) => {
    const name = baseName(word);
    const isNamed = isCheckedProgram(name) || SENDERS.has(name) || WRITERS.has(name);
    const starts = index === 0 || (isNamed && (isRunner || DANGEROUS_BY_ARGUMENTS.has(name)));
    return starts ? [words.slice(index)] : [];
  });
}

/** The operands that a command writes to. */
export function writtenBy([first = "", ...args]: readonly string[]): readonly string[] {
  const name = baseName(first);
  const operands = args.filter((arg) => !arg.startsWith("-"));
  return WRITES_ALL.has(name) ? operands : WRITES_LAST.has(name) ? operands.slice(-1) : [];
}
