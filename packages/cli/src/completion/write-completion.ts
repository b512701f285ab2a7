import type { Command, Option } from "commander";

export type Shell = "bash" | "zsh" | "fish";

interface CompletedCommand {
  /** The words after `codexkit`, such as `sessions list`. Empty for `codexkit` itself. */
  readonly path: string;
  readonly words: readonly CompletedWord[];
  /** Options that accept a fixed set of values. */
  readonly choices: readonly CompletedChoices[];
}

interface CompletedChoices {
  readonly flags: readonly string[];
  readonly values: readonly string[];
}

interface CompletedWord {
  readonly word: string;
  readonly description: string;
}

/** Generates the completion script for a shell from the command definitions. */
export function writeCompletion(shell: Shell, program: Command): string {
  const commands = collectCommands(program, []);
  switch (shell) {
    case "bash":
      return writeBash(commands);
    case "zsh":
      return writeZsh(commands);
    case "fish":
      return writeFish(commands);
  }
}

function collectCommands(command: Command, path: readonly string[]): CompletedCommand[] {
  const subcommands = command.commands.map((each) => ({ word: each.name(), description: each.summary() }));
  const choices = command.registeredArguments.flatMap(({ argChoices, description }) =>
    (argChoices ?? []).map((word) => ({ word, description })),
  );
  const options = [...command.options, helpOption].flatMap(({ long, hidden, description }) =>
    long && !hidden ? [{ word: long, description }] : [],
  );
  return [
    {
      path: path.join(" "),
      words: [...subcommands, ...choices, ...options],
      choices: command.options.flatMap(({ short, long, argChoices }) =>
        argChoices ? [{ flags: [long, short].filter((flag) => flag !== undefined), values: argChoices }] : [],
      ),
    },
    ...command.commands.flatMap((each) => collectCommands(each, [...path, each.name()])),
  ];
}

const helpOption: Pick<Option, "long" | "hidden" | "description"> = {
  long: "--help",
  hidden: false,
  description: "print help",
};

/** The shell function collects the command names before the cursor; it skips options and values. */
function writeBash(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(
    ({ path, words }) => `    ${quote(path)}) words=${quote(words.map(({ word }) => word).join(" "))} ;;`,
  );
  return `_codexkit() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" next word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in ${patterns(commands)}) path="$next" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${choiceCases(commands, (values) => `words=${quote(values.join(" "))}`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _codexkit codexkit
`;
}

function writeZsh(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ path, words }) => {
    const described = words.map(({ word, description }) =>
      quote(`${word.replaceAll(":", "\\:")}:${description.replaceAll(":", "\\:")}`),
    );
    return `    ${quote(path)}) words_and_help=(${described.join(" ")}) ;;`;
  });
  return `_codexkit() {
  local command_path="" next word
  local -a words_and_help
  for word in \${words[2,CURRENT-1]}; do
    next="\${command_path:+$command_path }$word"
    case "$next" in ${patterns(commands)}) command_path="$next" ;; esac
  done
  case "$command_path" in
${cases.join("\n")}
  esac
  case "$command_path \${words[CURRENT-1]}" in
${choiceCases(commands, (values) => `words_and_help=(${values.map((value) => quote(value)).join(" ")})`)}
  esac
  _describe codexkit words_and_help || _files
}
compdef _codexkit codexkit
`;
}

function writeFish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ path, words, choices }) =>
    words.map(({ word, description }) => {
      const when = quote(`test (__codexkit_path) = ${quote(path)}`, "fish");
      const values = choices.find(({ flags }) => flags.includes(word))?.values;
      const option = `-l ${word.slice(2)}${values ? ` -x -a ${quote(values.join(" "), "fish")}` : ""}`;
      const what = word.startsWith("--") ? option : `-a ${word}`;
      return `complete -c codexkit -n ${when} ${what} -d ${quote(description, "fish")}`;
    }),
  );
  const names = commands.filter(({ path }) => path !== "").map(({ path }) => quote(path));
  return `function __codexkit_path
  set -l found ''
  for word in (commandline -opc)[2..]
    set -l next (string trim "$found $word")
    contains -- $next ${names.join(" ")}; and set found $next
  end
  echo "$found"
end
${lines.join("\n")}
`;
}

/** Lists what to offer after an option with a fixed set of values, by command path and option. */
function choiceCases(
  commands: readonly CompletedCommand[],
  offer: (values: readonly string[]) => string,
): string {
  const cases = commands.flatMap(({ path, choices }) =>
    choices.map(({ flags, values }) => {
      const pattern = flags.map((flag) => quote(`${path} ${flag}`)).join("|");
      return `    ${pattern}) ${offer(values)} ;;`;
    }),
  );
  return cases.join("\n");
}

/** Formats the command paths as patterns for `case`. */
function patterns(commands: readonly CompletedCommand[]): string {
  return commands
    .filter(({ path }) => path !== "")
    .map(({ path }) => quote(path))
    .join("|");
}

function quote(text: string, shell: "posix" | "fish" = "posix"): string {
  if (shell === "fish") return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
