import { existsSync } from "node:fs";
import { resolve } from "node:path";

interface NamedPath {
  readonly name: string;
  readonly path: string;
}

interface Mentions {
  readonly mentions: NamedPath[];
  readonly skills: NamedPath[];
}

/** `[@name](target)` and `[$name](target)`, the syntax of Codex's own editors. */
const LINK = /\[([@$])([^\]\n]+)\]\(([^)\s]+)\)/g;
/** `@path` at the start of a word, without trailing punctuation. */
const FILE = /(?<![\w[./@])@([\w./+~-]*[\w+~-])/g;

/**
 * Finds the mentions in a text: linked apps, plugins, files and skills, and `@path` for each file below the folder. A name that
 * matches no file, such as `@alice`, is left as text.
 */
export function extractMentions(text: string, cwd: string): Mentions {
  const links = [...text.matchAll(LINK)].flatMap(([, sigil = "", name = "", target = ""]) => {
    const path = isAddress(target) ? target : resolve(cwd, target);
    return isAddress(path) || existsSync(path) ? [{ isSkill: sigil === "$", name, path }] : [];
  });
  const files = [...text.matchAll(FILE)].flatMap(([, path = ""]) => {
    const absolute = resolve(cwd, path);
    return existsSync(absolute) ? [{ name: path, path: absolute }] : [];
  });
  const named = links.map(({ isSkill, name, path }) => ({ isSkill, entry: { name, path } }));
  return {
    mentions: unique([...named.flatMap(({ isSkill, entry }) => (isSkill ? [] : [entry])), ...files]),
    skills: unique(named.flatMap(({ isSkill, entry }) => (isSkill ? [entry] : []))),
  };
}

function isAddress(target: string): boolean {
  return /^\w+:\/\//.test(target);
}

function unique(paths: readonly NamedPath[]): NamedPath[] {
  return [...new Map(paths.map((one) => [`${one.name}\n${one.path}`, one])).values()];
}
