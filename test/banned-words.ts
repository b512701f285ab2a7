/**
 * Words that this project does not use in identifiers and file names, because they are metaphors or too vague. A word matches as
 * a whole part of a camelCase or kebab-case name: `keyboard` and `dashboard` are fine.
 */
const BANNED_NAMES = [
  ["board", "registry"],
  ["boards", "registries"],
  ["desk", "broker"],
  ["door", "listener or entry point"],
  ["doors", "listeners or entry points"],
  ["hear", "on… or receive"],
  ["hears", "receives"],
  ["let go", "release"],
  ["means", "the name of the value"],
  ["or aborted", "raceAbort"],
  ["said", "the name of the value"],
  ["show", "publish or format"],
  ["stand in line", "acquire"],
  ["standing", "context or state"],
  ["surroundings", "context"],
  ["switchboard", "router"],
  ["tell", "emit or report"],
  ["told", "the name of the value"],
  ["until aborted", "raceAbort"],
] as const;

const BANNED_PROSE = /\b(?:desks?|doors?|switchboards?|whoever|nobody)\b/gi;

export interface SourceParts {
  readonly identifiers: readonly string[];
  readonly comments: readonly string[];
}

/** Describes the banned words in a file's name. */
export function checkFileName(name: string): string[] {
  return findBannedNames(name).map((problem) => `file name: ${problem}`);
}

/** Describes the banned words in the identifiers and comments of TypeScript or JavaScript. */
export function checkSource(source: string): string[] {
  const { identifiers, comments } = splitSource(source);
  return [
    ...new Set(identifiers.flatMap((name) => findBannedNames(name))),
    ...comments.flatMap((comment) => checkProse(comment)),
  ];
}

/** Describes the banned words in prose. */
export function checkProse(text: string): string[] {
  return Array.from(text.matchAll(BANNED_PROSE), ([word]) => `"${word}" in prose`);
}

function findBannedNames(name: string): string[] {
  const words = ` ${splitWords(name).join(" ")} `;
  return BANNED_NAMES.filter(([banned]) => words.includes(` ${banned} `)).map(
    ([banned, better]) => `"${banned}" in ${name} (use ${better})`,
  );
}

/** `letGoOfThread` and `let-go-of-thread` are the words let, go, of, thread. */
function splitWords(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z\d]+/)
    .map((word) => word.toLowerCase());
}

/** Comments, regular expressions, strings, template texts and identifiers. A template's `${…}` is read as code. */
const TOKEN =
  /(?<comment>\/\*[^]*?\*\/|\/\/[^\n]*)|(?<=(?:[(,=:[!&|?{};]|return)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<template>`)|(?<open>\{)|(?<close>\})|(?<identifier>[A-Za-z_$][\w$]*)/g;

/** Splits source text into identifiers and comments. An approximation without a parser, which is sufficient here. */
export function splitSource(source: string): SourceParts {
  const identifiers: string[] = [];
  const comments: string[] = [];
  /** For each open brace, whether it is the `${` of a template. */
  const braces: boolean[] = [];
  let position = 0;
  const skipTemplateText = (): void => {
    for (; position < source.length; position += 1) {
      if (source[position] === "\\") position += 1;
      else if (source[position] === "`") {
        position += 1;
        return;
      } else if (source.startsWith("${", position)) {
        position += 2;
        braces.push(true);
        return;
      }
    }
  };
  for (;;) {
    TOKEN.lastIndex = position;
    const token = TOKEN.exec(source);
    if (!token) return { identifiers, comments };
    position = TOKEN.lastIndex;
    const { comment, template, open, close, identifier } = token.groups ?? {};
    if (comment !== undefined) comments.push(comment);
    else if (identifier !== undefined) identifiers.push(identifier);
    else if (template !== undefined) skipTemplateText();
    else if (open !== undefined) braces.push(false);
    else if (close !== undefined && braces.pop() === true) skipTemplateText();
  }
}
