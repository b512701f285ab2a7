import { type CommandDeclaration, flag, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { isLiteral } from "./declaration/path-words.ts";
import type { Word } from "./declaration/word.ts";
import { HARMLESS_SETTING } from "./git-settings.ts";

const READING = ["--get", "--get-all", "--get-regexp", "--list"];
const CHANGING = ["--add", "--replace-all", "--unset", "--unset-all"];
/** Options of `git config get` and `git config list`, which follow the verb. */
const READING_OPTION =
  /^--(?:all|bool|fixed-value|global|includes|int|local|name-only|null|regexp|show-names|show-origin|show-scope|system|worktree|(?:default|type|url|value)=.*)$/;
const LEVELS = ["--global", "--system", "--worktree"];

/**
 * Reads settings, and writes harmless ones to the repository. `-f` and `--blob` use other files, `-e` opens an editor, and
 * `--rename-section` and `--remove-section` turn one setting into another: not declared.
 */
export const config: CommandDeclaration = {
  // The first operand ends the options: in `git config NAME VALUE -l` the last word is a pattern for values.
  syntax: "posix",
  options: {
    "--add": flag,
    "--bool": flag,
    "--default": value("data"),
    "--get": flag,
    "--get-all": flag,
    "--get-regexp": flag,
    "--global": flag,
    "--includes": flag,
    "--int": flag,
    "--list, -l": flag,
    "--local": flag,
    "--name-only": flag,
    "--replace-all": flag,
    "--show-origin": flag,
    "--show-scope": flag,
    "--system": flag,
    "--type": value("data"),
    "--unset": flag,
    "--unset-all": flag,
    "--worktree": flag,
    "-z, --null": flag,
  },
  operands: { rest: "data" },
  examine: examineSetting,
};

function examineSetting({ operands, options }: ParsedCall): readonly Effect[] | string {
  const actions = [...READING, ...CHANGING].filter((name) => options.has(name));
  if (actions.length > 1) return "it has more than one action";
  const [chosen] = actions;
  if (chosen !== undefined && READING.includes(chosen)) {
    const most = chosen === "--list" ? 0 : 2;
    return operands.length > most ? `${chosen} takes fewer operands` : [];
  }
  const [verb, ...rest] = operands;
  if (verb?.text === "get" || verb?.text === "list") {
    if (chosen !== undefined) return "it has more than one action";
    const unknown = rest.find(
      ({ text }) => text?.startsWith("-") !== false && !READING_OPTION.test(text ?? ""),
    );
    return unknown === undefined ? [] : `option ${unknown.text ?? "…"} is not declared`;
  }
  const isVerb = verb?.text === "set" || verb?.text === "unset";
  const unsets = verb?.text === "unset" || options.has("--unset") || options.has("--unset-all");
  const [name, setTo] = isVerb ? operands.slice(1) : operands;
  const replaces = options.has("--add") || options.has("--replace-all");
  if (setTo === undefined && !unsets && !isVerb && !replaces)
    return isLiteral(name) ? [] : "the setting is not known";
  if (LEVELS.some((level) => options.has(level))) return "it changes settings outside the repository";
  if (operands.length > (isVerb ? 3 : 2)) return "it replaces settings that match a pattern";
  return isHarmless(name, unsets ? undefined : setTo)
    ? [action("git-local")]
    : `the setting ${name?.text ?? "…"} is not declared`;
}

function isHarmless(name: Word | undefined, setTo: Word | undefined): boolean {
  if (!isLiteral(name)) return false;
  // Removing a setting is harmless if one of its values is.
  const values =
    setTo === undefined ? ["true", "false", "cat", "1", ":", "lf"] : isLiteral(setTo) ? [setTo.text] : [];
  return values.some((each) => HARMLESS_SETTING.test(`${name.text}=${each}`));
}
