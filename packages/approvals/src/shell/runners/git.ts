import { gitSetting } from "../git-settings.ts";
import { gitSubcommand } from "../git-subcommand.ts";
import { readOptions, type OptionSyntax } from "../options.ts";
import type { Inner, Unwrapper } from "../unwrap.ts";
import { commandText, derivedValue, type Value } from "../value.ts";

/** Whatever git is told to run: aliases with `!`, `bisect run`, `submodule foreach`, `rebase --exec`. */
export const git: Unwrapper = (args) => {
  const { verb, rest, outer } = gitSubcommand(args);
  const cloned = readOptions(verb?.text === "clone" ? rest : [], { short: "c", long: ["--config"] });
  const settings = [outer.values.get("c"), cloned.values.get("c"), cloned.values.get("--config")];
  const inner = settings
    .flatMap((values) => values ?? [])
    .flatMap((setting) => runBySetting(setting, verb, rest));
  if (outer.flags.has("--config-env") || outer.values.has("--exec-path"))
    inner.push({ kind: "opaque", what: "git with settings or programs from elsewhere" });
  const { operands } = readOptions(rest, { stopsAtOperand: true });
  const words = verb?.text === "bisect" && operands[0]?.text === "run" ? operands.slice(1) : [];
  if (words.length > 0) inner.push({ kind: "command", argv: words });
  if (verb?.text === "submodule" && operands[0]?.text === "foreach") {
    const line = operands.slice(1).filter(({ text }) => !/^--(?:recursive|quiet)$/.test(text));
    inner.push({
      kind: "script",
      source: derivedValue(line.map(({ text }) => text).join(" ")),
      shell: "posix",
    });
  }
  const takes = RUNNING_OPTIONS[verb?.text ?? ""];
  if (takes !== undefined) {
    const options = readOptions(rest, takes);
    for (const [name, values] of options.values) {
      if (name.startsWith("--") || takes.short?.includes(name) === true)
        for (const source of values) inner.push({ kind: "script", source, shell: "posix" });
    }
  }
  return { transparent: false, inner };
};

/** Options of git's commands whose value is a command line. */
const RUNNING_OPTIONS: Readonly<Record<string, OptionSyntax>> = {
  rebase: { short: "x", long: ["--exec"] },
  difftool: { short: "x", long: ["--extcmd"] },
  grep: { short: "O", long: ["--open-files-in-pager"] },
  "filter-branch": { long: ["--tree-filter", "--index-filter", "--msg-filter"] },
  "send-email": { long: ["--sendmail-cmd", "--smtp-server"] },
};

function runBySetting(setting: Value, verb: Value | undefined, rest: readonly Value[]): Inner[] {
  const equals = setting.text.indexOf("=");
  const key = equals === -1 ? setting.text : setting.text.slice(0, equals);
  const text = equals === -1 ? "" : setting.text.slice(equals + 1);
  const script = (source: string): Inner => ({
    kind: "script",
    source: { ...setting, text: source },
    shell: "posix",
  });
  switch (gitSetting(key, text)) {
    case "alias": {
      // What follows the alias is appended to what it stands for.
      const more = key.slice(6) === verb?.text ? ` ${commandText(rest)}` : "";
      const bang = /^\s*!(.*)$/s.exec(text)?.[1];
      return [script((bang ?? `git ${text}`) + more)];
    }
    case "command":
      return [script(text.replace(/^\s*!/, ""))];
    case "leads":
      return [{ kind: "opaque", what: `git's ${key}` }];
    default:
      return [];
  }
}
